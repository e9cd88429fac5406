// URL and a query in: lists the tools, searches and reads with the older TypeScript SDK.

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, query] = process.argv.slice(2);

const client = new Client({ name: "refdesk-conformance", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const { tools } = await client.listTools();
assert.deepEqual(tools.slice(0, 2).map((tool) => tool.name), ["search", "fetch"]);
const found = await client.callTool({ name: "search", arguments: { query } });
assert.ok(!found.isError);
const [hit] = found.structuredContent.results;
const page = await client.callTool({ name: "fetch", arguments: { ref: hit.ref } });
assert.ok(!page.isError);
assert.equal(page.structuredContent.ref, hit.ref);
console.log(hit.cite, hit.title);
await client.close();
