import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { BadBodyError, openBody } from './body.ts'
import type { IncomingResponse, Reader } from './exchange.ts'

/** Sends the request and passes its response to the reader `copyBody`; ends with the signal. */
type SendRequest = (copyBody: Reader<number>, ended: AbortSignal) => Promise<number>

/**
 * Yields the bytes of a response as they arrive; no byte is fetched twice. If the consumer stops, the request is
 * aborted.
 */
export async function * createPipe (send: SendRequest, maxBytes: number): AsyncGenerator<Buffer> {
  const pipe = new PassThrough()
  const ending = new AbortController()

  async function writeBody ({ body }: IncomingResponse): Promise<number> {
    let bytes = 0
    for await (const chunk of openBody(body, maxBytes)) {
      bytes += chunk.length
      if (!pipe.write(chunk)) await once(pipe, 'drain', { signal: ending.signal })
    }
    pipe.end()
    return bytes
  }

  const copyBody: Reader<number> = async (answer) => {
    try {
      const bytes = await writeBody(answer)
      return { result: bytes, bytes }
    } catch (err) {
      if (err instanceof BadBodyError) throw err
      // Not retried, because a second attempt would repeat bytes that the consumer already has.
      throw new BadBodyError(`broke off in the middle: ${err instanceof Error ? err.message : String(err)}`, { cause: err })
    }
  }

  const sent = send(copyBody, ending.signal).catch((err: unknown) => { pipe.destroy(err as Error) })
  try {
    for await (const chunk of pipe) yield chunk as Buffer
  } finally {
    ending.abort(new Error('the reader of the response stopped'))
    await sent
  }
}
