import { readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { AddressRefusedError } from '../../../core/http/addresses.ts'
import { FileWriteError } from '../../../core/http/client.ts'
import { startClient, startServer } from './server.ts'

const isImage = (type: string) => type.startsWith('image/')

t.test('a file is streamed to its path', async (t) => {
  const folder = t.testdir({})
  const bytes = Buffer.alloc(3_000_000, 'pixels')
  const server = await startServer(t, ({ url }, response) => {
    response.setHeader('content-type', 'Image/PNG; name=cover')
    if (url === '/packed') response.setHeader('content-encoding', 'gzip')
    response.end(url === '/packed' ? gzipSync(bytes) : bytes)
  })
  const client = startClient(t)
  for (const name of ['plain', 'packed']) {
    const toFile = join(folder, name)
    const download = await client.download(`${server.url}/${name}`, { toFile, acceptType: isImage })
    t.same(download, { status: 200, contentType: 'image/png', bytes: bytes.length, path: toFile })
    t.ok(bytes.equals(await readFile(toFile)), name)
  }
  t.same((await readdir(folder)).sort(), ['packed', 'plain'])
})

t.test('a failed download leaves nothing and keeps the former file', async (t) => {
  const folder = t.testdir({ cover: 'old' })
  const server = await startServer(t, ({ url }, response) => {
    if (url === '/html') response.setHeader('content-type', 'text/html').end('<script>')
    else if (url === '/large') response.setHeader('content-type', 'image/png').end(Buffer.alloc(200_000))
    else if (url === '/cut') {
      response.writeHead(200, { 'content-type': 'image/png', 'content-length': '9' }).write('x', () => response.destroy())
    } else if (url === '/slow') response.writeHead(200, { 'content-type': 'image/png' }).write('x')
    else response.writeHead(url === '/empty' ? 200 : 404, { 'content-type': 'image/png' }).end()
  })
  const client = startClient(t)
  const download = (path: string, timeoutMs?: number) => client.download(server.url + path,
    { toFile: join(folder, 'cover'), acceptType: isImage, maxBytes: 100_000, timeoutMs })

  await t.rejects(download('/html'), { name: 'ServiceDownError', message: /answered with the content type 'text\/html', which this request does not accept/ })
  await t.rejects(download('/large'), { name: 'ServiceDownError', message: /more than the 100,000 bytes/ })
  await t.rejects(download('/cut'), { name: 'ServiceDownError' })
  await t.rejects(download('/slow', 200), { name: 'ServiceDownError', message: /took longer than 200 ms/ })
  await t.rejects(download('/empty'), { name: 'ServiceDownError', message: /an empty file/ })
  await t.rejects(download('/none'), { name: 'HttpStatusError', status: 404 })
  t.same(await readdir(folder), ['cover'])
  t.equal(await readFile(join(folder, 'cover'), 'utf8'), 'old')
})

t.test('a cancelled download ends with the caller\'s reason and leaves nothing', async (t) => {
  const folder = t.testdir({})
  const cancel = new AbortController()
  const server = await startServer(t, (_request, response) => {
    response.write('half')
    setImmediate(() => cancel.abort(new Error('enough')))
  })
  const toFile = join(folder, 'cover')
  await t.rejects(startClient(t).download(server.url, { toFile, signal: cancel.signal }), { message: 'enough' })
  t.same(await readdir(folder), [])
})

t.test('a disk error is not the service\'s fault', async (t) => {
  const folder = t.testdir({})
  const server = await startServer(t, (_request, response) => response.end('x'))
  const toFile = join(folder, 'missing', 'cover')
  const err = await startClient(t).download(server.url, { toFile }).catch((caught: unknown) => caught)
  t.ok(err instanceof FileWriteError)
  t.match(err, { message: /^Cannot write '.*cover.*': ENOENT.*; check the folder and the space left$/ })
  t.equal(server.requests.length, 1)
})

t.test('a link at the path of the file is replaced, not followed', async (t) => {
  const folder = t.testdir({ precious: 'kept' })
  const server = await startServer(t, (_request, response) => response.end('new'))
  const toFile = join(folder, 'cover')
  await symlink(join(folder, 'precious'), toFile)
  await startClient(t).download(server.url, { toFile })
  t.equal(await readFile(join(folder, 'precious'), 'utf8'), 'kept')
  t.equal(await readFile(toFile, 'utf8'), 'new')
})

t.test('downloads obey the same address rules and are retried', async (t) => {
  const folder = t.testdir({})
  const toFile = join(folder, 'cover')
  await writeFile(toFile, 'old')
  const server = await startServer(t, (_request, response) => {
    response.writeHead(server.requests.length === 1 ? 503 : 200).end('new')
  })
  await t.rejects(startClient(t, { allowPrivate: false }).download(server.url, { toFile }), AddressRefusedError)
  await startClient(t).download(server.url, { toFile })
  t.equal(await readFile(toFile, 'utf8'), 'new')
})
