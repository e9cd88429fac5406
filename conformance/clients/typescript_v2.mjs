// URL and a query in: lists the tools, searches and reads with the current TypeScript client,
// in the protocol version with a handshake, the one without, and whichever it picks itself.

import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, query] = process.argv.slice(2);

for (const mode of ["legacy", "auto", { pin: "2026-07-28" }]) {
  const client = new Client(
    { name: "refdesk-conformance", version: "1" },
    { versionNegotiation: { mode } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const { tools } = await client.listTools();
  assert.deepEqual(tools.slice(0, 2).map((tool) => tool.name), ["search", "fetch"]);
  const found = await client.callTool({ name: "search", arguments: { query } });
  assert.ok(!found.isError);
  const [hit] = found.structuredContent.results;
  const page = await client.callTool({ name: "fetch", arguments: { ref: hit.ref } });
  assert.ok(!page.isError);
  assert.equal(page.structuredContent.ref, hit.ref);
  console.log(JSON.stringify(mode), hit.cite, hit.title);
  await client.close();
}
