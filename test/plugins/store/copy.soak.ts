import { mkdir, readFile, readdir, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'
import { createFsStore } from '../../../core/store/fs-store.ts'
import { readStoreAddress } from '../../../core/store/s3/address.ts'
import { createS3Store } from '../../../core/store/s3/s3-store.ts'
import { copyStore } from '../../../plugins/store/copy-store.ts'
import { CREDENTIALS, startS3Server } from '../../core/store/s3-server.ts'
import { runSvc, settings } from '../../e2e/server.ts'
import { makeFolder } from '../../folder.ts'

const SETTINGS = { access_key_id: CREDENTIALS.id, secret_access_key: CREDENTIALS.secret }
const running = new AbortController().signal
const ignore = () => undefined
const FILES = new Map([
  ...Array.from({ length: 20 }, (_one, index) => [`assets/users/a/saves/snes/1/${index} – Spiel.srm`, `save ${index}`] as const),
  ['assets/users/a/profile/avatar.png', 'a picture'],
  ['assets/lost/2026-01-01/users/b/saves/x', ''],
  ['resources/roms/1/7/cover/big.png', 'a cover'],
  ['resources/roms/1/7/retroachievements/badges/1.png', 'a badge'],
  ['resources/roms/2/8/manual/8.pdf', 'a manual'],
  ['resources/collections/3/cover/small.png', 'a small cover'],
  ['assets/users/a/states/snes/1/large.state', 'x'.repeat(9 * 1024 ** 2)]
])

async function fill (folder: string): Promise<void> {
  const unfinished = ['assets/users/a/incoming/half.part', 'resources/.unfinished/edit-1/1.part', 'resources/collections/.incoming/1.part',
    'resources/roms/1/7/cover/.1.part']
  for (const [key, content] of [...FILES, ...unfinished.map((path) => [path, 'half'] as const)]) {
    await mkdir(dirname(join(folder, key)), { recursive: true })
    await writeFile(join(folder, key), content)
  }
}

t.test('uploads and artwork are copied to a bucket and back, each as often as needed', async (t) => {
  const server = await startS3Server(t)
  const data = makeFolder(t, { data: {}, other: {} })
  const [source, target] = [createFsStore(join(data, 'data')), createS3Store(readStoreAddress(server.url, SETTINGS))]
  await fill(join(data, 'data'))
  t.match(await copyStore(source, target, running, ignore), { copied: FILES.size, present: 0, gone: 0 })
  t.same([...server.objects.keys()].sort(), [...FILES.keys()].map((key) => `data/${key}`).sort())
  t.match(await copyStore(source, target, running, ignore), { copied: 0, present: FILES.size })
  const avatar = join(data, 'data', 'assets/users/a/profile/avatar.png')
  await writeFile(avatar, 'b picture')
  const later = new Date(Date.now() + 60_000)
  await utimes(avatar, later, later)
  t.match(await copyStore(source, target, running, ignore), { copied: 1 }, 'an avatar that was replaced')
  const back = createFsStore(join(data, 'other'))
  t.match(await copyStore(target, back, running, ignore), { copied: FILES.size })
  for (const [key, content] of FILES) {
    t.equal(await readFile(join(data, 'other', key), 'utf8') === (key.endsWith('avatar.png') ? 'b picture' : content), true, key)
  }
})

t.test('a copy that failed or was interrupted continues where it ended', async (t) => {
  const server = await startS3Server(t)
  const data = makeFolder(t)
  await fill(data)
  const [source, target] = [createFsStore(data), createS3Store(readStoreAddress(server.url, SETTINGS))]
  let left = 5
  server.fail(({ method }) => method === 'PUT' && left-- <= 0 ? { status: 403, code: 'AccessDenied' } : null)
  await t.rejects(copyStore(source, target, running, ignore), { code: 'UNAVAILABLE' })
  server.fail(() => null)
  t.equal(server.objects.size, 5)
  const stop = new AbortController()
  await t.rejects(copyStore(source, target, stop.signal, ({ copied }) => { if (copied === 5) stop.abort(new Error('stop')) }), { message: 'stop' })
  const { copied, present } = await copyStore(source, target, running, ignore)
  t.ok(present >= 10 && present < FILES.size)
  t.equal(copied + present, FILES.size)
})

t.test('svc store copy names what it did, and refuses unknown addresses', async (t) => {
  const server = await startS3Server(t)
  const folder = makeFolder(t, { data: {} })
  await fill(join(folder, 'data'))
  const env = { ...settings(folder), SVC_DATA_DIR: join(folder, 'data'), AWS_ACCESS_KEY_ID: CREDENTIALS.id, AWS_SECRET_ACCESS_KEY: CREDENTIALS.secret }
  t.match(await runSvc(t, ['store', 'copy', '--to', server.url], env).ended,
    { code: 0, output: new RegExp(`→ s3://games/data: ${FILES.size} files copied \\(9\\.0 MiB\\), 0 were there\\.`) })
  t.match(await runSvc(t, ['store', 'copy', '--to', 'http://nas'], env).ended, { code: 1, output: /must begin with s3:/ })
  t.match(await runSvc(t, ['store', 'copy'], env).ended, { code: 1, output: /--to or with --from/ })
  t.ok((await readdir(join(folder, 'data', 'assets'))).length > 0, 'the files stay')
})
