import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { createFileStream } from '../../plugins/resources/file-stream.ts'
import { createZip } from '../../plugins/roms/zip.ts'

t.test('the size of a zip is known before a byte of it is made', async (t) => {
  const folder = t.testdir({ a: 'aaaa', b: '' })
  const entry = (name: string, size: number) =>
    ({ name, content: { size, mtime: new Date(), open: () => open(join(folder, name)) } })
  const { size, stream } = createZip([entry('a', 4), entry('b', 0), { name: 'ü.m3u', content: 'a\nb' }], createFileStream)
  t.equal((await buffer(stream)).length, size)
})

t.test('a file that changed or went away fails the zip, never ends it early', async (t) => {
  const folder = t.testdir({ a: 'aaaa' })
  for (const [name, size, reason] of [['a', 5, /has 4 now/], ['a', 3, /has 4 now/], ['gone', 3, /ENOENT/]] as const) {
    const content = { size, mtime: new Date(), open: () => open(join(folder, name)) }
    const { stream } = createZip([{ name, content }], createFileStream)
    await t.rejects(buffer(stream), reason)
  }
})

t.test('entries beyond 4 GiB are announced with the sizes of zip64', async (t) => {
  const content = { size: 5 * 2 ** 30, mtime: new Date(), open: () => open('/nonexistent/file') }
  const { size, stream } = createZip([{ name: 'a', content }, { name: 'b', content }], createFileStream)
  stream.on('error', () => {})
  stream.destroy()
  t.ok(size > 10 * 2 ** 30 && size < 10 * 2 ** 30 + 1000)
})

t.test('a file that ends early fails its stream', async (t) => {
  const folder = t.testdir({ a: 'aaaa' })
  const handle = await open(join(folder, 'a'))
  await t.rejects(buffer(createFileStream(handle, 0, 5)), /1 bytes early/)
  t.equal(handle.fd, -1)
})
