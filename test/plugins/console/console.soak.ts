import { mkdtemp, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { SHIPPED_DIR, findBundle } from '../../../plugins/console/bundle/bundle.ts'
import { createConsole } from '../../../plugins/console/service.ts'
import { buildTestApp, shareTestApp } from '../../support.ts'

const fresh = shareTestApp(t)

t.test('one process of all servers makes the bundle, again after a source changed', async (t) => {
  const { app } = await fresh(t)
  const other = await buildTestApp(t, { withoutAdmin: true })
  const folder = join(await mkdtemp(join(tmpdir(), 'svc-bundle-')), 'bundle')
  t.teardown(() => rm(dirname(folder), { recursive: true }))
  const [first, second] = await Promise.all([app, other.app].map((one) => createConsole(one, folder).load()))
  if (first === undefined) return t.fail('there is a bundle')
  t.same(first, second)
  const { ino } = await stat(folder)
  await createConsole(app, folder).load()
  t.equal((await stat(folder)).ino, ino, 'a current bundle is used')

  const { entry, files } = first
  t.equal(new Set(Object.keys(files)).size, Object.keys(files).length)
  for (const name of Object.keys(files)) t.match(name, /-[A-Z\d]{8}\.(?:css|js|mjs|svg|wasm)(?:\.map)?$/)
  const manifest = join(folder, 'manifest.json')
  await utimes(manifest, 0, 1)
  t.equal((await findBundle([folder, SHIPPED_DIR]))?.isFresh, false, 'a checkout has newer packages')
  await writeFile(manifest, JSON.stringify({ ...first, fingerprint: 'of other sources' }))
  await utimes(manifest, 0, 1)
  t.equal((await createConsole(app, folder).load()).entry, entry, 'the same sources get the same names')
  t.not((await stat(manifest)).mtimeMs, 1_000, 'it was made again')

  const service = createConsole(app, folder)
  let current = await service.load()
  for (const part of ['entry', 'styles'] as const) {
    const name = current[part].replace(/-\w+/, '-REPLACED')
    await rename(join(folder, current[part]), join(folder, name))
    current = { ...current, [part]: name }
    await writeFile(manifest, JSON.stringify(current))
    t.equal((await service.load())[part], name, `a bundle whose ${part} another process replaced is read again`)
  }
})
