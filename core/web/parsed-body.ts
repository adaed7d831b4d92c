import { Readable } from 'node:stream'

/**
 * Returns the parsed body; undefined if a route reads the body itself as a stream, whose properties lead to sockets.
 */
export const parsedBody = (body: unknown): unknown => body instanceof Readable ? undefined : body
