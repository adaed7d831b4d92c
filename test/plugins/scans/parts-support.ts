import pg from 'pg'
import type { Test } from 'tap'
import { until } from '../../until.ts'
import { scriptOf } from '../fixtures/script.ts'
import { blockedBy } from '../../support.ts'
import { type ScanTest, buildScanTest } from './support.ts'

/** A provider without a time limit of its own. */
export const digest = scriptOf('digest')
export const FOLDERS = ['gba', 'nes', 'snes', 'zx']
export const ROMS_EACH = 5
export const ROMS = FOLDERS.length * ROMS_EACH

const NUMBERS = Array.from({ length: ROMS_EACH }, (_none, index) => index)
export const library = Object.fromEntries(FOLDERS.flatMap((folder) =>
  NUMBERS.map((index) => [`roms/${folder}/${folder} ${index}.bin`, `content ${folder} ${index}`] as const)))

/** Builds a server without a scan worker, whose provider knows every ROM. */
export async function build (t: Test): Promise<ScanTest> {
  const test = await buildScanTest(t, { providers: ['digest'], worker: false })
  await test.put(library)
  let id = 0
  digest.identify = (rom) => ({ id: ++id, name: `Found ${rom.fs_name}` })
  return test
}

/** Blocks every scan worker in its first part. @returns the function that lets them continue */
export async function blockParts (t: Test, { databaseUrl }: ScanTest): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  t.teardown(() => client.end())
  await client.query('begin')
  await client.query('lock table platform_folders in exclusive mode')
  return async () => { await client.query('rollback') }
}

export const listHolders = async ({ sql }: ScanTest) =>
  (await sql<{ holder: string }>("select distinct holder from scan_parts where state = 'leased'")).map(({ holder }) => holder)

/** Waits until so many workers have a part and are blocked in its first write. */
export const waitForHolders = (test: ScanTest, count: number) => until(
  async () => (await listHolders(test)).length === count && (await test.sql(blockedBy('platform_folders'))).length === count,
  `${count} workers with a part`)

export async function readRoms (test: ScanTest) {
  return (await Promise.all(FOLDERS.map((folder) => test.roms(folder)))).flat()
}
