import { join } from 'node:path'
import t, { type Test as Tap } from 'tap'
import { THREAD_FROM, type ThreadSettings, createManyLstats } from '../../../plugins/entries/lstat-many.ts'
import { lstat } from '../../../plugins/entries/lstat.ts'
import { until } from '../../until.ts'

type ManyLstats = ReturnType<typeof createManyLstats>

const countFileRequests = () => process.getActiveResourcesInfo().filter((name) => name === 'FSReqCallback').length

/** True if this process reads the path itself. */
async function isDirect ({ lstat }: ManyLstats, path: string): Promise<boolean> {
  const before = countFileRequests()
  const asked = lstat(path)
  const after = countFileRequests()
  await asked
  return after > before
}

async function openThread (t: Tap, path: string, settings?: ThreadSettings) {
  const many = createManyLstats(settings)
  t.teardown(() => many.close())
  many.expect(THREAD_FROM)
  await until(async () => !await isDirect(many, path), 'a thread that looks at paths')
  return many
}

t.test('the thread returns the same facts as single calls', async (t) => {
  const dir = t.testdir({ 'game.nes': 'content', folder: { 'inner.nes': '' }, link: t.fixture('symlink', 'game.nes') })
  const many = await openThread(t, dir)
  const paths = [dir, ...['game.nes', 'folder', 'link', 'folder/inner.nes'].map((name) => join(dir, name)), '/dev/null']
  t.strictSame(await Promise.all(paths.map(many.lstat)), await Promise.all(paths.map(lstat)))
})

t.test('a path that the thread cannot read fails alone, with the file system error', async (t) => {
  const dir = t.testdir({ 'game.nes': 'content' })
  const many = await openThread(t, dir)
  const [gone, there] = await Promise.allSettled([many.lstat(join(dir, 'gone.nes')), many.lstat(join(dir, 'game.nes'))])
  t.match(gone, { status: 'rejected', reason: { code: 'ENOENT', path: join(dir, 'gone.nes') } })
  t.match(there, { status: 'fulfilled', value: { kind: 'file', size: 7 } })
})

t.test('the thread starts in advance when many paths are announced', async (t) => {
  const dir = t.testdir({})
  const many = createManyLstats()
  t.teardown(() => many.close())
  t.ok(await isDirect(many, dir))
  many.expect(THREAD_FROM - 10)
  t.ok(await isDirect(many, dir), 'not for fewer')
  many.expect(10)
  await until(async () => !await isDirect(many, dir), 'a thread that looks at paths')
})

t.test('requests waiting for a thread that ends are answered without it', async (t) => {
  const dir = t.testdir({ 'game.nes': 'content' })
  const many = await openThread(t, dir)
  const asked = Array.from({ length: 100 }, () => many.lstat(join(dir, 'game.nes')))
  await many.close()
  t.strictSame(new Set((await Promise.all(asked)).map(({ size }) => size)), new Set([7]))
  t.equal((await many.lstat(join(dir, 'game.nes'))).size, 7)
})

t.test('on a slow disk paths are read concurrently without the thread', async (t) => {
  const dir = t.testdir({ 'game.nes': 'content' })
  const many = await openThread(t, dir, { slowMs: 0, graceMs: 0 })
  await until(() => isDirect(many, dir), 'the end of the thread')
  t.match(await many.lstat(join(dir, 'game.nes')), { kind: 'file', size: 7 })
})

t.test('a thread survives a short delay on a busy machine', async (t) => {
  const dir = t.testdir({})
  const many = await openThread(t, dir, { slowMs: 0, graceMs: 600_000 })
  await Promise.all(Array.from({ length: 2_500 }, () => many.lstat(dir)))
  t.notOk(await isDirect(many, dir))
})
