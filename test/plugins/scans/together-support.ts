import { readFileSync, readdirSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Provider } from '@svc/plugin-sdk'
import sharp from 'sharp'
import type { Test } from 'tap'
import { ZipFile } from 'yazl'
import type { PlannedResponse } from '../../../sdk/src/testing/responses.ts'
import { type Source, redirectedPackage, startSource } from './redirected-support.ts'
import { type ScanTest, buildScanTest } from './support.ts'

const PROVIDERS = fileURLToPath(new URL('../../../providers/', import.meta.url))
const fixture = (path: string) => readFileSync(`${PROVIDERS}${path}`, 'utf8')

/** The keys of all built-in providers. */
export const KEYS: readonly string[] = readdirSync(PROVIDERS, { withFileTypes: true })
  .filter((entry) => entry.isDirectory()).map(({ name }) => name)

/** Settings that the fixtures of some providers need; the other providers are only enabled. */
export const SETTINGS: Readonly<Record<string, object>> = {
  igdb: { clientId: 'abc', clientSecret: 'hidden' },
  launchbox: { remote: true },
  moby: { apiKey: 'a-key', secondsPerRequest: 1 },
  ra: { apiKey: 'a-web-api-key' },
  sgdb: { apiKey: 'a-key' },
  ss: { user: 'member-one', password: 'member-secret', devId: 'dev-one', devPassword: 'dev-secret' },
  tgdb: { apiKey: 'hidden-key' }
}

async function zipDump (): Promise<Uint8Array> {
  const file = new ZipFile()
  for (const name of ['Platforms.xml', 'Metadata.xml', 'Mame.xml', 'Files.xml']) {
    file.addBuffer(Buffer.from(fixture(`launchbox/test/fixtures/${name}`)), name)
  }
  file.end()
  return await buffer(file.outputStream)
}

const PNG = await sharp({ create: { width: 30, height: 40, channels: 3, background: '#336699' } }).png().toBuffer()
const asPng = { method: 'GET', bytes: PNG, headers: { 'content-type': 'image/png' } }
export const picture: PlannedResponse = { ...asPng, url: /\.(?:png|jpe?g|webp)(?:\?|$)/ }
const LISTINGS = 'https://thumbnails.libretro.com/Nintendo%20-%20Game%20Boy'

/** Responses that fixtures hold in other forms than planned responses. */
export const MORE: Readonly<Record<string, readonly PlannedResponse[]>> = {
  launchbox: [{ url: 'https://gamesdb.launchbox-app.com/Metadata.zip', bytes: await zipDump() }],
  libretro: [
    { method: 'HEAD', url: 'https://thumbnails.libretro.com/' },
    { url: `${LISTINGS}/Named_Boxarts/`, text: fixture('libretro/test/fixtures/boxarts.html') },
    { url: `${LISTINGS}/Named_Snaps/`, text: fixture('libretro/test/fixtures/snaps.html') }
  ],
  // Media without an extension in their addresses.
  hasheous: [
    { url: 'https://hasheous.org/api/v1/images/*', ...asPng }],
  ss: [
    {
      url: 'https://neoclone.screenscraper.fr/api2/mediaManuelJeu.php',
      text: '%PDF-1.4',
      headers: { 'content-type': 'application/pdf' }
    },
    { url: 'https://neoclone.screenscraper.fr/*', ...asPng }
  ]
}

/** A file of the library, and the ids that providers find where their fixtures know the file. */
export interface KnownRom {
  path: string
  hashes?: Readonly<Record<string, string>>
  ids: Readonly<Record<string, string | StringConstructor>>
}

/** Any id that is made of a file's name or path. */
const SHOWN = String

const HARBOR_HASHES = {
  md5_hash: '0f343b0931126a20f133d67c2b018a3b', sha1_hash: '4b8c5e1a0d3f27960c1e55a9d0b7f6c2a1e3d4f5', crc_hash: '9a1b2c3d'
}

export const KNOWN_ROMS: readonly KnownRom[] = [
  {
    path: 'snes/Chrono Harbor (USA).sfc',
    hashes: HARBOR_HASHES,
    ids: { gamelist: SHOWN, hasheous: '51873', hltb: '1705', igdb: '4711', moby: '4711', sgdb: '54321' }
  },
  { path: 'snes/Chrono Harbor - Second Tide (USA).sfc', ids: { launchbox: '40217' } },
  // No other provider knows this ROM, because the last provider in the order must be called.
  { path: 'snes/Wanderer (tgdb-4711).sfc', ids: { tgdb: '4711' } },
  { path: 'gb/Chrono Harbor (USA).gb', ids: { libretro: SHOWN } },
  { path: 'gb/Tide Runner (World).gb', hashes: { ra_hash: '0123456789abcdef0123456789abcdef' }, ids: { ra: '5001' } },
  { path: 'genesis/Tide Runner (USA) (ssfr-3).md', ids: { ss: '3' } },
  { path: 'win/Chrono Harbor.exe', ids: { hltb: '1705', steam: '400' } },
  { path: 'browser/Paper Fortress.swf', ids: { flashpoint: '1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e5f' } },
  { path: 'c64/Copper Tides (1993)(Lantern).d64', ids: { demozoo: '900001', pouet: '900101', csdb: '900201' } }
]

export interface Together extends ScanTest {
  sources: ReadonlyMap<string, Source>
  definitions: ReadonlyMap<string, Provider['definition']>
}

/** Builds a server with all providers, each with a test server for its fixtures. */
export async function buildTogether (
  t: Test, config: Record<string, object> = {}, settings: object = {}
): Promise<Together> {
  const sources = new Map<string, Source>()
  const definitions = new Map<string, Provider['definition']>()
  for (const key of KEYS) {
    sources.set(key, await startSource(t, key, [...MORE[key] ?? [], picture]))
    const { default: provider } = await import(`../../../providers/${key}/src/index.ts`) as { default: Provider }
    definitions.set(key, provider.definition)
  }
  const plugins = Object.fromEntries(KEYS.map((key) => {
    const isSwitched = definitions.get(key)?.config?.properties.enabled !== undefined
    return [key, { ...isSwitched && { enabled: true }, ...SETTINGS[key], ...settings, test_url: sources.get(key)?.url }]
  }))
  const test = await buildScanTest(t, {
    providers: [],
    packages: KEYS.map((key) => redirectedPackage(t, key)),
    config: { filesystem: { skip_hash_calculation: true }, plugins, ...config }
  })
  return { ...test, sources, definitions }
}

/** Adds the ROMs of the fixtures and other ROMs, `total` in all, without lookups. */
export async function addLibrary (
  { put, scan, sql }: Pick<ScanTest, 'put' | 'scan' | 'sql'>, platforms: readonly string[], total: number
): Promise<void> {
  const paths = KNOWN_ROMS.map(({ path }) => path)
  for (let count = 0; paths.length < total; count++) {
    paths.push(`${platforms[count % platforms.length] ?? ''}/Nobody Knows This ${String(count)}.bin`)
  }
  await put(Object.fromEntries(paths.map((path) => [`roms/${path}`, path])))
  await put({ 'roms/snes/gamelist.xml': fixture('gamelist/test/fixtures/es-de.xml') })
  await scan({ apis: [] })
  for (const { path, hashes = {} } of KNOWN_ROMS) {
    for (const [column, hash] of Object.entries(hashes)) {
      const name = path.slice(path.indexOf('/') + 1)
      await sql(`update roms set ${column} = $1 where fs_name = $2`, [hash, name])
      await sql(`update rom_files set ${column} = $1 where file_name = $2`, [hash, name])
    }
  }
}
