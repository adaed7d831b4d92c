import { createHash } from 'node:crypto'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import pg from 'pg'
import sharp from 'sharp'

const PLATFORMS = ['gba', 'nes', 'psx', 'sms', 'snes']
const GAMES_EACH = 1_000
/** One in this number of games has a cover. */
const COVER_EVERY = 10

export const GAMES = PLATFORMS.length * GAMES_EACH
export const COVERS = GAMES / COVER_EVERY

const fileName = (index: number) => `Game ${String(index).padStart(4, '0')} (Europe).rom`
const content = (platform: string, index: number) => Buffer.from(`${platform} ${index} `.repeat(1 + index % 300))

const picture = (sigma: number) => sharp({
  create: { width: 60, height: 80, channels: 3, background: '#336699', noise: { type: 'gaussian', mean: 128, sigma } }
}).png().toBuffer()

function renderEntry (platform: string, index: number): string {
  const image = index % COVER_EVERY === 0 ? '<image>./media/cover.png</image>' : ''
  // An entry with a name alone would be no match.
  return `<game><path>./${fileName(index)}</path><name>${platform} number ${index}</name><desc>A game.</desc>${image}</game>`
}

/** Writes a library whose games are all in a gamelist.xml. @returns the expected result of a scan, one line per file */
export async function makeLibrary (libraryDir: string): Promise<string[]> {
  const lines: string[] = []
  for (const [order, platform] of PLATFORMS.entries()) {
    const folder = join(libraryDir, 'roms', platform)
    await mkdir(join(folder, 'media'), { recursive: true })
    await writeFile(join(folder, 'media', 'cover.png'), await picture(20 + order * 10))
    const indexes = Array.from({ length: GAMES_EACH }, (_none, index) => index)
    await writeFile(join(folder, 'gamelist.xml'),
      `<gameList>${indexes.map((index) => renderEntry(platform, index)).join('\n')}</gameList>`)
    for (const index of indexes) {
      const bytes = content(platform, index)
      await writeFile(join(folder, fileName(index)), bytes)
      const sums = [crc32(bytes).toString(16).padStart(8, '0'), ...['md5', 'sha1'].map((name) =>
        createHash(name).update(bytes).digest('hex'))]
      lines.push([platform, fileName(index), `${platform} number ${index}`, ...sums].join('|'))
    }
  }
  return lines.sort()
}

interface Stored { line: string, path_cover_large: string | null, path_cover_small: string | null }

const STORED = `select concat_ws('|', p.fs_slug, r.fs_name, r.name, r.crc_hash, r.md5_hash, r.sha1_hash) ||
    case when r.missing_from_fs then ' missing' else '' end ||
    case when (select count(*) from rom_files f where f.rom_id = r.id and f.sha1_hash = r.sha1_hash) <> 1
      then ' has not one file' else '' end as line, r.path_cover_large, r.path_cover_small
  from roms r join platforms p on p.id = r.platform_id`

async function listFiles (folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)).sort()
}

async function isWhole (file: string): Promise<boolean> {
  // Only reading a picture completely reveals that it is truncated.
  return await sharp(file, { failOn: 'warning' }).stats().then(() => true, () => false)
}

/** Compares the stored rows with the library. @returns the differences; empty if there are none */
export async function audit (databaseUrl: string, resources: string, expected: readonly string[]): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<Stored>(STORED)
  await client.end()
  const lines = rows.map(({ line }) => line)
  const known = new Set(expected)
  const found = new Set(lines)
  const named = rows.flatMap((row) => [row.path_cover_large, row.path_cover_small])
    .filter((path) => path !== null).map((path) => join(resources, path)).sort()
  const files = await listFiles(resources)
  const broken: string[] = []
  for (const file of files) if (!await isWhole(file)) broken.push(file)
  const there = new Set(files)
  const owned = new Set(named)
  return [
    ...(rows.length === expected.length ? [] : [`${rows.length} ROMs instead of ${expected.length}`]),
    ...expected.filter((line) => !found.has(line)).map((line) => `not stored: ${line}`),
    ...lines.filter((line) => !known.has(line)).map((line) => `stored: ${line}`),
    ...(named.length === 2 * COVERS ? [] : [`${named.length} covers and small covers instead of ${2 * COVERS}`]),
    ...named.filter((file) => !there.has(file)).map((file) => `named and not there: ${file}`),
    ...files.filter((file) => !owned.has(file)).map((file) => `there and not named: ${file}`),
    ...broken.map((file) => `no whole picture: ${file}`)
  ]
}
