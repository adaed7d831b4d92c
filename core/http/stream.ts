import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { BadBodyError, openBody } from './body.ts'
import type { Reader } from './exchange.ts'

/** Sends the request and has the body of its answer poured out by the reader it is given; ends with the signal. */
type Send = (pour: Reader<number>, ended: AbortSignal) => Promise<number>

/** The bytes of an answer as they arrive. Whoever stops reading ends the request; nothing is fetched a second time. */
export async function * createPipe (send: Send, maxBytes: number): AsyncGenerator<Buffer> {
  const pipe = new PassThrough()
  const ending = new AbortController()
  let isBegun = false

  const pour: Reader<number> = async ({ body }) => {
    // A second try would repeat what the reader has had.
    if (isBegun) throw new BadBodyError('broke off in the middle')
    isBegun = true
    let bytes = 0
    await pipeline(openBody(body, maxBytes), async function * (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        bytes += chunk.length
        yield chunk
      }
    }, pipe)
    return { result: bytes, bytes }
  }

  const sent = send(pour, ending.signal).catch((err: unknown) => { pipe.destroy(err as Error) })
  try {
    for await (const chunk of pipe) yield chunk as Buffer
  } finally {
    ending.abort(new Error('nobody reads the answer any more'))
    await sent
  }
}
