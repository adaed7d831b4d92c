import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Structure } from '../../../plugins/library/structure.ts'
import type { ScanType } from '../../../plugins/matching/scan-types.ts'
import { orderFolders } from '../../../plugins/scans/disk/order-folders.ts'

const FOLDERS = ['gb', 'nes', 'snes']
const DAY = 86_400_000

/** Creates a library whose folders changed on these days. */
function createLibrary (t: Test, days: Record<string, number>) {
  const dir = t.testdir({ roms: Object.fromEntries(Object.keys(days).map((name) => [name, {}])) })
  for (const [name, day] of Object.entries(days)) utimesSync(join(dir, 'roms', name), new Date(0), new Date(day * DAY))
  const filesystem = { roms_folder: 'roms', firmware_folder: 'bios', structure: {} }
  return {
    root: { id: 1, name: 'library', dir, is_writable: true, is_watched: true, filesystem },
    structure: { kind: 'A', romsFolder: 'roms', firmwareKind: 'A', firmwareFolder: 'bios' } satisfies Structure
  }
}

t.test('a quick scan begins with the folder that changed last', async (t) => {
  const library = createLibrary(t, { gb: 1, nes: 3, snes: 2 })
  t.strictSame(await orderFolders([...FOLDERS, 'gone'], library, { type: 'quick', scannedAt: 4 * DAY }),
    { folders: ['nes', 'snes', 'gb', 'gone'], needsHashes: false })
})

t.test('a quick scan needs hashes if a folder changed since the last scan', async (t) => {
  const library = createLibrary(t, { gb: 1, nes: 3, snes: 2 })
  t.match(await orderFolders(FOLDERS, library, { type: 'quick', scannedAt: 2 * DAY }), { needsHashes: true })
})

t.test('first and complete scans need hashes, and scans for matches none', async (t) => {
  const library = createLibrary(t, { gb: 1, nes: 3, snes: 2 })
  const first = { type: 'quick', scannedAt: null } as const
  t.strictSame(await orderFolders(FOLDERS, library, first), { folders: FOLDERS, needsHashes: true })
  t.strictSame(await orderFolders([], library, first), { folders: [], needsHashes: false })
  const needs = { complete: true, hashes: true, new_platforms: true, update: false, unmatched: false }
  for (const [type, needsHashes] of Object.entries(needs)) {
    const order = await orderFolders(FOLDERS, library, { type: type as ScanType, scannedAt: 4 * DAY })
    t.strictSame(order, { folders: FOLDERS, needsHashes }, type)
  }
})
