import { type S3Client, S3ConnectionError, S3Error } from './client.ts'

/** Connections that may break in a row without a byte of content. */
const FAILURES_MAX = 3

export interface RangeRead {
  key: string
  /** The content to read; another content under the key is an error. */
  etag: string
  start: number
  /** Excluded. */
  end: number
}

/**
 * Yields a range of an object. A broken connection continues at its last byte.
 *
 * @throws S3Error with status 412 if the object was replaced, S3ConnectionError
 */
export async function * readRange (client: S3Client, { key, etag, start, end }: RangeRead): AsyncGenerator<Buffer> {
  let at = start
  let failures = 0
  while (at < end) {
    const { body, statusCode, headers } = await client.open({
      method: 'GET', key, headers: { range: `bytes=${at}-${end - 1}`, 'if-match': etag }
    })
    // A body that is destroyed before its end emits an error, which nobody else listens to.
    body.on('error', () => {})
    if (statusCode !== 206) {
      body.destroy()
      throw new S3ConnectionError(`the server ignored a range and answered ${statusCode}`)
    }
    // Some servers ignore the condition.
    if (headers.etag !== etag) {
      body.destroy()
      throw new S3Error(412, 'PreconditionFailed', 'the object was replaced')
    }
    const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    try {
      while (at < end) {
        const next = await chunks.next().catch((err: unknown) => {
          if (++failures > FAILURES_MAX) throw new S3ConnectionError(err)
          return { done: true as const, value: undefined }
        })
        if (next.done === true) break
        const chunk = next.value.subarray(0, end - at)
        at += chunk.length
        failures = 0
        yield chunk
      }
      if (at < end && ++failures > FAILURES_MAX) throw new S3ConnectionError('the server ends its answers early')
    } finally {
      body.destroy()
    }
  }
}
