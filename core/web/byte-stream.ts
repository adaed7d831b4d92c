import { Readable } from 'node:stream'

export interface ByteSource {
  /** Writes the next bytes to the start of the buffer. @returns their number; 0 at the end */
  read (buffer: Buffer): Promise<number>
  /** Called once: after the last read, on an error, and when the stream is destroyed. */
  close (): Promise<void>
}

const BUFFER_BYTES = 256 * 1024
/** The longest time in milliseconds for one buffer. A client that goes on later asks for the rest. */
const STALL_MS = 600_000
/** The most unused buffers, 4 MiB, that wait for later streams. */
const SPARE_MAX = 16
const spare: Buffer[] = []

const takeBuffer = () => spare.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES)
function releaseBuffer (buffer: Buffer): void {
  if (spare.length < SPARE_MAX) spare.push(buffer)
}

function write (destination: NodeJS.WritableStream, chunk: Buffer, stallMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => { reject(new Error(`the client took nothing for ${stallMs / 1_000} s`)) }, stallMs)
    destination.write(chunk, (err) => {
      clearTimeout(timer)
      if (err == null) resolve()
      else reject(err)
    })
  })
}

/**
 * A stream whose `pipe` reads into two buffers in turn, each again only when its bytes are written. New memory for each
 * chunk would take most of a download's processor time. Any other consumer gets chunks of its own.
 *
 * The stream fails if a destination takes nothing for ten minutes, because it would keep its memory and its file.
 */
export class ByteStream extends Readable {
  readonly #source: ByteSource
  readonly #stallMs: number

  constructor (source: ByteSource, stallMs = STALL_MS) {
    super({ highWaterMark: BUFFER_BYTES })
    this.#source = source
    this.#stallMs = stallMs
  }

  override pipe<Destination extends NodeJS.WritableStream> (
    destination: Destination, options?: { end?: boolean }
  ): Destination {
    this.#writeTo(destination).then(() => {
      if (options?.end !== false) destination.end()
      // Nothing is left to read, so this ends the stream and closes the source.
      this.resume()
    }, (err: Error) => { this.destroy(err) })
    return destination
  }

  async #writeTo (destination: NodeJS.WritableStream): Promise<void> {
    let [current, other] = [takeBuffer(), takeBuffer()]
    let written = Promise.resolve()
    for (;;) {
      const length = await this.#source.read(current)
      await written
      if (length === 0) break
      written = write(destination, current.subarray(0, length), this.#stallMs)
      // Awaited after the next read, which may fail first.
      written.catch(() => {})
      ;[current, other] = [other, current]
    }
    // Not after an error, because a connection may still hold them.
    releaseBuffer(current)
    releaseBuffer(other)
  }

  override _read (size: number): void {
    const buffer = Buffer.allocUnsafe(size)
    this.#source.read(buffer).then((length) => { this.push(length === 0 ? null : buffer.subarray(0, length)) },
      (err: Error) => { this.destroy(err) })
  }

  override _destroy (err: Error | null, done: (err?: Error | null) => void): void {
    this.#source.close().then(() => { done(err) }, (closing: Error) => { done(err ?? closing) })
  }
}
