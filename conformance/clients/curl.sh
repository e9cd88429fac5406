#!/bin/sh
# URL and a query in: lists the tools, searches and reads with nothing but curl, in both eras.
set -eu
url=$1 query=$2

legacy() {
    curl --silent --show-error --fail --max-time 20 "$url" \
        -H 'Content-Type: application/json' -H 'Accept: application/json' \
        -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$1\",\"params\":$2}"
}

modern() {
    meta='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
    curl --silent --show-error --fail --max-time 20 "$url" \
        -H 'Content-Type: application/json' -H 'Accept: application/json' \
        -H 'MCP-Protocol-Version: 2026-07-28' -H "Mcp-Method: $1" -H "Mcp-Name: $2" \
        -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$1\",\"params\":{$3$meta}}"
}

legacy tools/list '{}' | grep -q '"name":"search"'
found=$(legacy tools/call "{\"name\":\"search\",\"arguments\":{\"query\":\"$query\"}}")
ref=$(printf '%s' "$found" | sed 's/.*"structuredContent"//' | grep -o 'corpus://[^"\\]*' | head -n 1)
legacy tools/call "{\"name\":\"fetch\",\"arguments\":{\"ref\":\"$ref\"}}" | grep -q '"isError":false'
modern tools/call search "\"name\":\"search\",\"arguments\":{\"query\":\"$query\"}," | grep -q "$ref"
modern tools/call fetch "\"name\":\"fetch\",\"arguments\":{\"ref\":\"$ref\"}," | grep -q '"isError":false'
echo "$ref"
