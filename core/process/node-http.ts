/**
 * Node's module `http`. An import of it would read all of its exports, among them `WebSocket`, which loads a whole HTTP
 * client: 2 MB in each process.
 */
export const { IncomingMessage, STATUS_CODES, ServerResponse, createServer, request } = process.getBuiltinModule('node:http')
