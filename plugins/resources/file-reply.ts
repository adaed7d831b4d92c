import type { FileHandle } from 'node:fs/promises'
import { encodeExtended } from 'content-disposition'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { parseByteRange } from './byte-range.ts'
import { type Validators, isFresh, isPreconditionFailed, isSameForRange } from './conditions.ts'
import { createFileStream } from './file-stream.ts'

/** An open file to answer with. */
export interface FileReply {
  /** Closed with the answer. */
  handle: FileHandle
  type: string
  cacheControl: string
  /** Without it the answer names no file. */
  disposition?: { type: 'attachment' | 'inline', fileName: string }
  /** What is known of the content; without it the file on disk tells its state. */
  validators?: Validators
}

/** Content of users and of the internet never runs anything in a browser. */
const CONTENT_SECURITY_POLICY = "sandbox; default-src 'none'"
// eslint-disable-next-line no-control-regex
const NEVER_IN_NAMES = /[\0-\x1f\x7f-\x9f/\\]/g

/**
 * The value of a `Content-Disposition` header, by RFC 6266 and RFC 8187; no control character and no slash passes.
 * Always with both forms of the name: apps look for either.
 */
export function contentDisposition (type: 'attachment' | 'inline', fileName: string): string {
  const name = fileName.replace(NEVER_IN_NAMES, '_').toWellFormed()
  const ascii = name.replaceAll(/[^ -~]/gu, '?').replaceAll('"', '\\"')
  return `${type}; filename="${ascii}"; filename*=${encodeExtended(name)}`
}

async function describe ({ handle, validators }: FileReply): Promise<Validators & { size: number }> {
  const stats = await handle.stat({ bigint: true })
  if (validators !== undefined) return { size: Number(stats.size), ...validators }
  // A file that is replaced has another inode, one that is written another time: both are strong validators.
  const parts = [stats.ino, stats.size, stats.mtimeNs].map((part) => part.toString(36))
  return { size: Number(stats.size), etag: `"${parts.join('-')}"`, lastModified: stats.mtime.toUTCString() }
}

function rangeOf (request: FastifyRequest, current: Validators & { size: number }) {
  const { range } = request.headers
  if (range === undefined || request.method !== 'GET' || !isSameForRange(request.headers, current)) return null
  return parseByteRange(range, current.size)
}

async function answer (request: FastifyRequest, reply: FastifyReply, file: FileReply): Promise<FastifyReply> {
  const { handle } = file
  const current = await describe(file)
  reply.headers({
    etag: current.etag,
    'last-modified': current.lastModified,
    'accept-ranges': 'bytes',
    'cache-control': file.cacheControl,
    'content-type': file.type,
    'content-security-policy': CONTENT_SECURITY_POLICY,
    'x-content-type-options': 'nosniff'
  })
  if (file.disposition !== undefined) {
    reply.header('content-disposition', contentDisposition(file.disposition.type, file.disposition.fileName))
  }
  const sendNothing = async (status: number) => {
    await handle.close()
    return reply.code(status).send()
  }
  if (isPreconditionFailed(request.headers, current)) return await sendNothing(412)
  if (isFresh(request.headers, current)) return await sendNothing(304)
  const range = rangeOf(request, current)
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${current.size}`)
    return await sendNothing(416)
  }
  const { start, end } = range ?? { start: 0, end: current.size - 1 }
  if (range !== null) reply.code(206).header('content-range', `bytes ${start}-${end}/${current.size}`)
  reply.header('content-length', end - start + 1)
  if (request.method === 'HEAD') return await sendNothing(200)
  return reply.send(createFileStream(handle, start, end - start + 1))
}

/** Answers with an open file: whole, a range of it, or that the client's copy is still good. */
export async function sendFile (request: FastifyRequest, reply: FastifyReply, file: FileReply): Promise<FastifyReply> {
  try {
    return await answer(request, reply, file)
  } catch (err) {
    await file.handle.close()
    throw err
  }
}
