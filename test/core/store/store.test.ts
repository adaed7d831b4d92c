import { createHash, randomBytes } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { PathRefusedError } from '../../../core/files/safe-path.ts'
import { createFsStore } from '../../../core/store/fs-store.ts'
import { explainStoreUrl, readStoreAddress } from '../../../core/store/s3/address.ts'
import { createS3Store } from '../../../core/store/s3/s3-store.ts'
import { deleteFolder, moveFolder } from '../../../core/store/move-object.ts'
import { createFastWriter, createSyncedWriter } from '../../../core/store/store-writer.ts'
import { SizeMismatchError } from '../../../core/store/store-errors.ts'
import type { Store } from '../../../core/store/store.ts'
import { makeFolder } from '../../folder.ts'
import { startS3Server } from './s3-server.ts'
import {
  CREDENTIAL_SETTINGS, KEYS, MIB, UNAVAILABLE, content, key, listAll, readAll, s3Of, stageFile
} from './store-support.ts'

interface Opened { store: Store, folder: string }
const STORES: Record<string, (t: Test) => Promise<Opened>> = {
  fs: async (t) => {
    const folder = makeFolder(t)
    return await Promise.resolve({ store: createFsStore(folder), folder })
  },
  s3: async (t) => ({ store: s3Of(await startS3Server(t)), folder: makeFolder(t) })
}

type Step =
  | { kind: 'put' | 'stream' | 'publish' | 'discard', key: string, content: Uint8Array }
  | { kind: 'get', key: string, start: number, length: number }
  | { kind: 'stat' | 'delete' | 'list', key: string }
const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('put' as const, 'stream' as const, 'publish' as const, 'discard' as const), key, content }),
  fc.record({ kind: fc.constant('get' as const), key, start: fc.nat(300), length: fc.nat(300) }),
  fc.record({ kind: fc.constantFrom('stat' as const, 'delete' as const, 'list' as const), key })
)

/** Runs one step on a store and on its model, and compares the answers. */
async function runStep (t: Test, { store, folder }: Opened, model: Map<string, Buffer>, step: Step): Promise<void> {
  const known = model.get(step.key)
  if (step.kind === 'get') {
    const object = await store.get(step.key)
    t.equal(object?.size, known?.length)
    if (object === null || known === undefined) return
    const start = Math.min(step.start, object.size)
    const end = Math.min(start + step.length, object.size)
    const found = await buffer(object.read(start, end))
    await object.close()
    t.ok(found.equals(known.subarray(start, end)), `bytes ${start} to ${end} of ${step.key}`)
  } else if ('content' in step) {
    const bytes = Buffer.from(step.content)
    if (step.kind === 'put') await store.put(step.key, bytes, bytes.length)
    else if (step.kind === 'stream') await store.put(step.key, Readable.from([bytes.subarray(0, 7), bytes.subarray(7)]))
    else {
      const staged = await stageFile(store, folder, bytes)
      if (step.kind === 'publish') await staged.publish(step.key)
      await staged.discard()
    }
    if (step.kind !== 'discard') model.set(step.key, bytes)
  } else if (step.kind === 'stat') {
    t.equal((await store.stat(step.key))?.size, known?.length)
  } else if (step.kind === 'list') {
    const [listed = ''] = step.key.split('/')
    const expected = [...model].filter(([key]) => key.startsWith(`${listed}/`)).map(([key, { length }]) => [key, length])
    t.same([...await listAll(store, listed)].sort(), expected.sort())
  } else {
    await store.delete([step.key])
    model.delete(step.key)
  }
}

for (const [name, open] of Object.entries(STORES)) {
  t.test(`${name}: any sequence of operations has the result of a map`, async (t) => {
    const opened = await open(t)
    await fc.assert(fc.asyncProperty(fc.array(steps, { maxLength: 25 }), async (sequence) => {
      await opened.store.delete(KEYS)
      const model = new Map<string, Buffer>()
      for (const step of sequence) await runStep(t, opened, model, step)
    }), { numRuns: 30 })
  })

  t.test(`${name}: names are those directly in a folder`, async (t) => {
    const { store } = await open(t)
    for (const key of [...KEYS, 'b/deep/er/file', 'b/deep/file', 'b/ünï/other']) await store.put(key, Buffer.from(key))
    const { objects, folders } = await store.listNames('b')
    t.same([objects.sort(), folders.sort()], [['<amp;&>"quotes"', "it's (1)!*~.sfc"], ['deep', 'ünï']])
    t.same(await store.listNames('b/deep'), { objects: ['file'], folders: ['er'] })
    t.same(await store.listNames('b/none'), { objects: [], folders: [] })
  })

  t.test(`${name}: a folder is moved and deleted with all that is in it`, async (t) => {
    const { store } = await open(t)
    const keys = ['a/1/x', 'a/1/deep/y', 'a/10/z']
    for (const key of keys) await store.put(key, Buffer.from(key))
    await moveFolder(store, 'a/1', 'b/2')
    await moveFolder(store, 'a/none', 'b/2')
    t.same([...await listAll(store, 'a')], [['a/10/z', 6]])
    t.same([...(await listAll(store, 'b')).keys()].sort(), ['b/2/deep/y', 'b/2/x'])
    t.equal(String(await readAll(store, 'b/2/deep/y')), 'a/1/deep/y')
    await deleteFolder(store, 'b/2')
    await deleteFolder(store, 'b/2')
    t.same([...await listAll(store, 'b')], [])
  })

  t.test(`${name}: both writers replace whole objects and leave no other file`, async (t) => {
    const { store, folder } = await open(t)
    for (const writer of [createFastWriter(store), createSyncedWriter(store)]) {
      await writer.put(Buffer.from('put'), 'a/new/file')
      t.equal(String(await readAll(store, 'a/new/file')), 'put')
      const path = join(folder, 'part')
      await writeFile(path, 'moved')
      await writer.move(path, 'a/new/file')
      t.equal(String(await readAll(store, 'a/new/file')), 'moved')
      await t.rejects(writer.put(Buffer.from(''), 'a/../b'), PathRefusedError)
    }
    const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((one) => one.isFile())
    t.same(files.map((file) => file.name), store.folder === null ? [] : ['file'])
  })

  t.test(`${name}: content of many parts is stored whole`, async (t) => {
    const { store } = await open(t)
    const bytes = randomBytes(20 * MIB + 1)
    await store.put('a/large', Readable.from([bytes.subarray(0, 9 * MIB), bytes.subarray(9 * MIB)]), bytes.length)
    const found = await readAll(store, 'a/large')
    t.equal(createHash('sha256').update(found ?? '').digest('hex'), createHash('sha256').update(bytes).digest('hex'))
  })

  t.test(`${name}: a content of another size than announced is not stored`, async (t) => {
    const { store } = await open(t)
    await store.put('a/file', Buffer.from('former'))
    for (const size of [5, 9 * MIB]) {
      await t.rejects(store.put('a/file', Readable.from([Buffer.alloc(8 * MIB), Buffer.alloc(MIB - 1)]), size), SizeMismatchError)
    }
    t.same(await readAll(store, 'a/file'), Buffer.from('former'))
    t.same([...await listAll(store, 'a')], [['a/file', 6]])
  })

  t.test(`${name}: a source that fails leaves the former content`, async (t) => {
    const { store } = await open(t)
    await store.put('a/file', Buffer.from('former'))
    const source = async function * () {
      yield Buffer.alloc(9 * MIB)
      await turn()
      throw new Error('the client is gone')
    }
    await t.rejects(store.put('a/file', source()), { message: 'the client is gone' })
    t.same(await readAll(store, 'a/file'), Buffer.from('former'))
  })

  t.test(`${name}: keys that leave the store are refused`, async (t) => {
    const { store } = await open(t)
    for (const key of ['', '/a/b', 'a/../b', 'a//b', 'a/./b', 'a/b/', 'a/\0', `a/${'x'.repeat(900)}`]) {
      await t.rejects(store.get(key), PathRefusedError, JSON.stringify(key))
      await t.rejects(store.put(key, Buffer.from('')), PathRefusedError)
    }
  })

  t.test(`${name}: the version changes when the content does`, async (t) => {
    const { store } = await open(t)
    await store.put('a/file', Buffer.from('one'))
    const first = await store.get('a/file')
    await store.put('a/file', Buffer.from('two'))
    const second = await store.get('a/file')
    t.not(first?.version, second?.version)
    await first?.close()
    await second?.close()
  })
}

t.test('s3: requests with a wrong credential or bucket name the reason', async (t) => {
  const server = await startS3Server(t)
  const wrong = s3Of(server, { ...CREDENTIAL_SETTINGS, secret_access_key: 'other' })
  await t.rejects(wrong.stat('a/file'), UNAVAILABLE)
  await t.rejects(wrong.put('a/file', Buffer.from('x')), { ...UNAVAILABLE, message: /the secret key is wrong/ })
  const unknown = s3Of(server, { ...CREDENTIAL_SETTINGS, access_key_id: 'other' })
  await t.rejects(unknown.put('a/file', Buffer.from('x')), { ...UNAVAILABLE, message: /the access key is unknown/ })
  const elsewhere = createS3Store(readStoreAddress(server.url.replace('games', 'other'), CREDENTIAL_SETTINGS))
  await t.rejects(listAll(elsewhere, 'a'), { ...UNAVAILABLE, message: /the bucket does not exist/ })
})

t.test('s3: a request succeeds after failures that pass', async (t) => {
  const server = await startS3Server(t)
  const store = s3Of(server)
  for (const failure of [{ status: 503, code: 'SlowDown' }, 'cut', 'hang', 'lose-answer'] as const) {
    let left = failure === 'hang' ? 1 : 2
    server.fail(() => left-- > 0 ? failure : null)
    await store.put('a/file', Buffer.from(JSON.stringify(failure)))
    t.equal(String(await readAll(store, 'a/file')), JSON.stringify(failure))
    left = failure === 'hang' ? 0 : 2
    t.equal((await store.stat('a/file'))?.size, JSON.stringify(failure).length)
    left = failure === 'hang' ? 0 : 2
    t.equal((await listAll(store, 'a')).size, 1)
  }
})

t.test('s3: a broken connection continues at its last byte', async (t) => {
  const server = await startS3Server(t)
  const store = s3Of(server)
  const bytes = randomBytes(MIB)
  await store.put('a/file', bytes)
  let left = 6
  server.fail(({ method }) => method === 'GET' && left-- > 0 ? 'cut-body' : null)
  t.ok((await readAll(store, 'a/file'))?.equals(bytes))
  t.ok(left < 0)
})

t.test('s3: a reader of a replaced object gets an error and no mixed content', async (t) => {
  const server = await startS3Server(t)
  const store = s3Of(server)
  await store.put('a/file', Buffer.from('one'))
  const object = await store.get('a/file')
  await store.put('a/file', Buffer.from('two'))
  await t.rejects(async () => await buffer(object?.read(0, 3) ?? Readable.from([])), { code: 'CONFLICT', message: /'file' was changed/ })
  await store.delete(['a/file'])
  await t.rejects(async () => await buffer(object?.read(0, 3) ?? Readable.from([])), { code: 'CONFLICT' })
})

t.test('s3: a server that lacks parts of the protocol can be used', async (t) => {
  const server = await startS3Server(t)
  server.isPoor = true
  const store = s3Of(server)
  for (const key of KEYS) await store.put(key, Buffer.from(key))
  for (const folder of ['a', 'b', 'c']) {
    t.same([...(await listAll(store, folder)).keys()].sort(), KEYS.filter((key) => key.startsWith(`${folder}/`)).sort())
  }
  const object = await store.get('a/plain')
  await store.put('a/plain', Buffer.from('other'))
  await t.rejects(async () => await buffer(object?.read(0, 5) ?? Readable.from([])), { code: 'CONFLICT' })
  t.equal(await store.sweep(new Date()), 0)
})

t.test('an address of a store names bucket, prefix, endpoint and region', async (t) => {
  const settings = CREDENTIAL_SETTINGS
  t.match(readStoreAddress('s3://games', settings), { bucketUrl: 'https://games.s3.us-east-1.amazonaws.com', prefix: '', region: 'us-east-1' })
  t.match(readStoreAddress('s3://my.games/a/b%20c/?region=eu-central-1', settings),
    { bucketUrl: 'https://s3.eu-central-1.amazonaws.com/my.games', prefix: 'a/b c/', region: 'eu-central-1', name: 's3://my.games/a/b c' })
  t.match(readStoreAddress('s3://games?endpoint=http://nas:9000/', settings), { bucketUrl: 'http://nas:9000/games' })
  t.throws(() => readStoreAddress('s3://games', { access_key_id: 'x' }), { message: /AWS_SECRET_ACCESS_KEY/ })
  for (const url of ['games', 's3://', 's3://Games_1', 's3://id:key@games', 's3://games:9000', 's3://games?host=x', 's3://games?endpoint=nas:9000']) {
    t.not(explainStoreUrl(url), null, url)
  }
})
