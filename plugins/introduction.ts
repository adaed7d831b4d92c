/** The introduction of the API document, for authors of apps. */
export const introduction = `## Getting started

1. **Get a token.** A person creates one at \`POST /api/client-tokens\` and types it into the app. Or the person types a short code, which
   the app exchanges at \`POST /api/client-tokens/exchange\`. An app that can only show a code begins at
   \`POST /api/auth/device/init\` and polls \`POST /api/auth/device/token\` until the person approves it.
2. **Send it** with every request: \`Authorization: Bearer svc_…\`.
3. **Look around**: \`GET /api/heartbeat\` lists the server's features, \`GET /api/platforms\` and \`GET /api/roms\` its content,
   and \`GET /api/roms/{id}/content/{file_name}\` sends a game.

\`\`\`sh
curl -H "Authorization: Bearer $TOKEN" "$SERVER/api/roms?limit=10"
\`\`\`

## Authentication

| Way | For |
|---|---|
| client API token, as \`Bearer\` | apps, scripts and devices; it has the scopes of its creation, and works until it expires or is deleted |
| \`POST /api/token\` | programs that know OAuth 2: a short-lived access token and a refresh token |
| \`Basic\` | trying things out |
| \`POST /api/login\`, a cookie | pages in a browser; requests that change data send the cookie \`svc_csrftoken\` back as \`X-CSRFToken\` |

Each operation names its scopes. A token has no more than its owner may do at that moment.

## Addresses

Paths in responses, such as those of covers, are relative to the address of the server and do not contain its path. If the server
is at \`https://home.example.org/games\`, \`/assets/…\` is at \`https://home.example.org/games/assets/…\`. Fields with the name
\`url\` or \`uri\` contain absolute addresses.

## Errors

Every error is JSON with \`detail\`: a sentence, an object with \`message\`, or at 422 a list with the location of each
invalid value. After 429 and 503 repeat the request after \`Retry-After\` seconds. Objects that you may not see answer 404, as if
they did not exist.

Every response has an \`X-Request-Id\`: the id that the request sent, or a new one. The log of the server contains it too.

## Events

The server sends events over socket.io at \`/ws/socket.io\`; \`/asyncapi.json\` describes them. \`/openapi.json\` is this document.
`
