import { Readable } from 'node:stream'
import t from 'tap'
import { makeFolder } from '../../folder.ts'
import { until } from '../../until.ts'
import { startS3Server } from './s3-server.ts'
import { MIB, UNAVAILABLE, listAll, readAll, s3Of, stageFile } from './store-support.ts'

t.test('s3: a store that stays away gives 503 with a pause, and nothing is lost', async (t) => {
  const server = await startS3Server(t)
  const store = s3Of(server)
  await store.put('a/file', Buffer.from('former'))
  for (const failure of [{ status: 503, code: 'SlowDown' }, 'cut', 'hang'] as const) {
    server.fail(() => failure)
    const works: (() => Promise<unknown>)[] = [
      () => store.put('a/file', Buffer.from('new')), () => store.get('a/file'), () => store.stat('a/file'), () => store.delete(['a/file']),
      () => listAll(store, 'a'), () => store.sweep(new Date()), () => store.put('a/file', Readable.from([Buffer.alloc(9 * MIB)]))
    ]
    // Each wait for a silent server takes a second, and all requests wait alike.
    for (const work of failure === 'hang' ? works.slice(0, 1) : works) await t.rejects(work(), { ...UNAVAILABLE, retryAfterSeconds: 15 })
    server.fail(() => null)
    t.equal(String(await readAll(store, 'a/file')), 'former')
  }
})

t.test('s3: an upload whose last answer is lost is complete', async (t) => {
  const server = await startS3Server(t)
  const store = s3Of(server)
  let isLost = false
  server.fail(({ method, query }) => {
    if (method !== 'POST' || !query.has('uploadId') || isLost) return null
    isLost = true
    return 'lose-answer'
  })
  await store.put('a/file', Buffer.alloc(9 * MIB), 9 * MIB)
  t.ok(isLost)
  t.equal((await store.stat('a/file'))?.size, 9 * MIB)
})

t.test('s3: a sweep deletes staged objects and unfinished uploads of killed processes', async (t) => {
  const server = await startS3Server(t)
  const store = s3Of(server)
  const folder = makeFolder(t)
  await store.put('a/file', Buffer.from('published'))
  await stageFile(store, folder, Buffer.alloc(5 * MIB))
  // The upload fails, and so does its deletion.
  server.fail(({ method, query }) => query.has('partNumber') || method === 'DELETE' ? { status: 400, code: 'BadDigest' } : null)
  await t.rejects(store.put('a/large', Buffer.alloc(9 * MIB)), UNAVAILABLE)
  server.fail(() => null)
  t.same([server.objects.size, server.uploads.size], [2, 1])
  t.equal(await store.sweep(new Date(Date.now() - MIB)), 0)
  t.equal(await store.sweep(new Date(Date.now() + MIB)), 2)
  t.same([[...server.objects.keys()], server.uploads.size], [['data/a/file'], 0])
})

t.test('s3: a destroyed reader ends its request', async (t) => {
  const server = await startS3Server(t)
  const store = s3Of(server)
  await store.put('a/file', Buffer.alloc(20 * MIB))
  const object = await store.get('a/file')
  const stream = object?.read(0, 20 * MIB) ?? Readable.from([])
  await new Promise((resolve) => { stream.once('data', resolve) })
  stream.destroy()
  await until(() => stream.closed, 'the reader is closed')
})
