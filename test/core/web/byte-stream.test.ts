import { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import t from 'tap'
import { type ByteSource, ByteStream } from '../../../core/web/byte-stream.ts'

/** A source of so many buffers. */
function createSource (buffers: number) {
  let [left, isClosed] = [buffers, false]
  const source: ByteSource = {
    read: async (buffer) => left-- > 0 ? buffer.fill(left).length : 0,
    close: async () => { isClosed = true }
  }
  return { source, isClosed: () => isClosed }
}

t.test('a stream ends when its destination took all bytes', async (t) => {
  const { source, isClosed } = createSource(3)
  const taken: number[] = []
  const destination = new Writable({
    write (chunk: Buffer, _encoding, done) {
      taken.push(chunk[0] ?? -1)
      setImmediate(done)
    }
  })
  const stream = new ByteStream(source)
  stream.pipe(destination)
  await Promise.all([finished(stream), finished(destination)])
  t.strictSame(taken, [2, 1, 0])
  t.ok(isClosed())
})

t.test('a stream fails if its destination takes nothing for too long', async (t) => {
  const { source, isClosed } = createSource(3)
  const stream = new ByteStream(source, 20)
  stream.pipe(new Writable({ write () { /* never done */ } }))
  await t.rejects(finished(stream), { message: 'the client took nothing for 0.02 s' })
  t.ok(isClosed())
})
