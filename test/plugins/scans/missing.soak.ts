import t from 'tap'
import { resetScripts } from '../fixtures/script.ts'
import { buildScanTest } from './support.ts'
import { alpha } from './missing-support.ts'

const test = await buildScanTest(t, { providers: ['alpha'] })
const { put, scan, roms, sql } = test

t.beforeEach(resetScripts)

t.test('a ROM that a person renames during a scan keeps its new name and is not missing', async (t) => {
  const names = Array.from({ length: 600 }, (_none, index) => `Game ${String(index).padStart(3, '0')}.ngp`)
  await put(Object.fromEntries(names.map((name) => [`roms/ngp/${name}`, `content of ${name}`])))
  await scan({ platform_fs_slugs: ['ngp'], apis: [] })
  const before = await roms('ngp')
  // They belong to batches that are listed, hashed or stored while the lookups of the first batch wait.
  const renamed = [20, 130, 300, 450, 599].flatMap((index) => before[index] ?? [])
  const renames: Promise<void>[] = []
  const renameOne = async ({ id }: { id: number }) => {
    const answer = await test.app.inject({ method: 'PUT', url: `/api/roms/${id}`, headers: test.admin, payload: { fs_name: `Own ${id}.ngp` } })
    if (answer.statusCode !== 200) throw new Error(answer.body)
  }
  alpha.identify = async () => {
    if (renames.length === 0) renames.push(...renamed.map(renameOne))
    await Promise.all(renames)
    return null
  }
  const status = await scan({ type: 'complete', platform_fs_slugs: ['ngp'] })
  await Promise.all(renames)
  t.equal(status.status, 'finished')
  t.notMatch(status.meta.problems, [{ reason: /not stored/ }])
  const expected = before.map((rom) => renamed.includes(rom) ? { ...rom, fs_name: `Own ${rom.id}.ngp` } : rom)
  t.match(new Map((await roms('ngp')).map((rom) => [rom.id, rom])),
    new Map(expected.map(({ id, fs_name: name }) => [id, { fs_name: name, missing_from_fs: false }])))
  t.same(await sql(`select r.fs_name from roms r join rom_files f on f.rom_id = r.id
    where r.fs_path = 'roms/ngp' and f.file_name <> r.fs_name`), [])
})
