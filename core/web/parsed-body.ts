import { Readable } from 'node:stream'

/** What was parsed of a body; undefined for one that a route reads by itself: a stream, which leads to sockets. */
export const parsedBody = (body: unknown): unknown => body instanceof Readable ? undefined : body
