import { HttpStatusError, RateLimitedError, type Rom, type RomFile, ServiceDownError } from '@svc/plugin-sdk'
import {
  type PlannedResponse, type RecordedRequest, createContext, createRom, testProvider
} from '@svc/plugin-sdk/testing'
import fc from 'fast-check'
import { test } from 'tap'
import provider from '../src/index.ts'
import { readIds } from '../src/provider-ids.ts'

const { definition } = provider
const FIXTURES = new URL('./fixtures', import.meta.url)
const config = { enabled: true, baseUrl: 'https://playmatch.retrorealm.dev/api/v2' }
const HASHES = {
  crc_hash: '6f2ac1d0', md5_hash: '0f343b0931126a20f133d67c2b018a3b', sha1_hash: '4b8c5e1a0d3f27960c1e55a9d0b7f6c2a1e3d4f5'
}
const NO_MATCH = { gameMatchType: 'NoMatch', id: null }

const createFixtureContext = () => createContext({ config, responses: FIXTURES })

function openHttp (answer: Partial<PlannedResponse>, given: Partial<typeof config> = {}) {
  return createContext({ config: { ...config, ...given }, intercept: () => ({ url: '*', ...answer }) })
}

const askedBy = (request: RecordedRequest | undefined) => Object.fromEntries(new URL(request?.url ?? '').searchParams)

/** Returns the lookup of a ROM with these files; undefined when no request is sent. */
async function askAbout (files: readonly Partial<RomFile>[]) {
  const ctx = openHttp({ json: NO_MATCH })
  await definition.identify?.(createRom({ files }), ctx)
  return ctx.requests.length === 0 ? undefined : askedBy(ctx.requests[0])
}

test('conforms', async (t) => {
  await testProvider(t, provider, {
    packageUrl: new URL('../package.json', import.meta.url),
    config: { enabled: true },
    responses: FIXTURES,
    known: { rom: { fs_name: 'Chrono Harbor (USA).sfc', ...HASHES } }
  })
})

test('a file is looked up by hashes, name and size, and returns ids', async (t) => {
  const ctx = createFixtureContext()
  const match = await definition.identify?.(createRom({ fs_name: 'Chrono Harbor (USA).sfc', ...HASHES }), ctx)
  t.same(match, { ids: { igdb: 4711, ss: 2049, moby: 6604, launchbox: 40217, ra: 310, tgdb: 88 } })
  t.same(askedBy(ctx.requests[0]), {
    fileName: 'Chrono Harbor (USA).sfc',
    fileSize: '1024',
    md5: HASHES.md5_hash,
    sha1: HASHES.sha1_hash,
    crc: HASHES.crc_hash
  })
})

test('a file without hashes is looked up by name and size, in any script', async (t) => {
  t.same(await askAbout([{ file_name: 'クロノハーバー (Japan).sfc', file_size_bytes: 7 }]),
    { fileName: 'クロノハーバー (Japan).sfc', fileSize: '7' })
  t.equal((await askAbout([{ file_name: 'x'.repeat(600) }]))?.fileName?.length, 512)
})

test('the largest top-level file represents a ROM, the first by path on a tie', async (t) => {
  const disc = (name: string, size: number, more: Partial<RomFile> = {}) =>
    ({ file_name: name, file_size_bytes: size, ...more })
  const nameOf = async (...files: Partial<RomFile>[]) => (await askAbout(files))?.fileName
  t.equal(await nameOf(disc('Harbor (Disc 2).chd', 9), disc('Harbor (Disc 1).chd', 9), disc('Harbor.m3u', 1)), 'Harbor (Disc 1).chd')
  t.equal(await nameOf(disc('patch.bin', 99, { is_top_level: false }), disc('game.bin', 9)), 'game.bin')
  t.equal(await nameOf(disc('empty.bin', 0)), undefined)
  t.equal(await nameOf(), undefined)
})

test('an archive uses its largest member\'s hashes, a CHD its contents\' hash', async (t) => {
  const members = [{ name: 'readme', size: 1, sha1_hash: 'a'.repeat(40) }, { name: 'game', size: 9, sha1_hash: 'b'.repeat(40) }]
  t.match(await askAbout([{ file_name: 'Harbor.zip', sha1_hash: 'f'.repeat(40), archive_members: members }]),
    { fileName: 'Harbor.zip', sha1: 'b'.repeat(40) })
  t.same(await askAbout([{ file_name: 'Harbor.chd', md5_hash: 'f'.repeat(32), chd_sha1_hash: 'c'.repeat(40) }]),
    { fileName: 'Harbor.chd', fileSize: '1024', sha1: 'c'.repeat(40) })
})

test('an unknown file, and one without known ids, are no match', async (t) => {
  const rom = createRom(HASHES)
  const ask = async (json: object) => definition.identify?.(rom, openHttp({ json }))
  t.equal(await ask(NO_MATCH), undefined)
  t.equal(await ask({ gameMatchType: 'MD5', id: 'x' }), undefined)
  t.equal(await ask({ gameMatchType: 'MD5', id: 'x', externalMetadata: [{ providerName: 'OpenVGDB', providerId: '5' }] }), undefined)
})

test('invalid ids are skipped, and the first of two at one provider counts', async (t) => {
  const entry = (providerName: unknown, providerId: unknown) => ({ providerName, providerId })
  const rows = [
    null, 7, entry(5, '1'), entry('IGDB', null), entry('igdb', 'chrono-harbor'), entry('Igdb', '12'), entry('IGDB', '13'),
    entry('LaunchBox', 14), entry('SteamGridDB', '-1')
  ]
  t.same(readIds({ externalMetadata: rows }), { igdb: 12, launchbox: 14 })
  fc.assert(fc.property(fc.anything(), (externalMetadata) =>
    Object.values(readIds({ externalMetadata })).every(Number.isSafeInteger)))
})

test('a rate limit, an outage and unusable responses are errors', async (t) => {
  const rom: Rom = createRom(HASHES)
  const ask = async (answer: Partial<PlannedResponse>) => definition.identify?.(rom, openHttp(answer))
  await t.rejects(ask({ status: 429 }), RateLimitedError)
  await t.rejects(ask({ status: 400, json: { code: 400, message: 'md5 has the wrong length' } }), HttpStatusError)
  for (const answer of [{ status: 503 }, { text: '<!doctype html>' }, { text: '' }, { json: [] }, { json: {} }]) {
    await t.rejects(ask(answer), ServiceDownError)
  }
})

test('a configured server replaces the public one', async (t) => {
  const ctx = openHttp({ json: NO_MATCH }, { baseUrl: 'http://playmatch.lan/api/v2/' })
  await definition.identify?.(createRom(HASHES), ctx)
  t.match(ctx.requests[0]?.url, /^http:\/\/playmatch\.lan\/api\/v2\/identify\/ids\?/)
})

test('ids that a person chose are suggested with their file', async (t) => {
  const ctx = openHttp({ status: 204 })
  const rom = createRom({ fs_name: 'Chrono Harbor (USA).sfc', md5_hash: HASHES.md5_hash })
  await definition.suggest?.(rom, { igdb: 4711, flashpoint: 'c0ffee', sgdb: undefined, pouet: 5 }, ctx)
  t.match(ctx.requests, [{ method: 'POST', url: `${config.baseUrl}/suggestion/external/game` }])
  t.same(JSON.parse(ctx.requests[0]?.body ?? ''), {
    md5: HASHES.md5_hash,
    sha1: null,
    sha256: null,
    fileName: 'Chrono Harbor (USA).sfc',
    fileSize: 1024,
    mappings: [{ provider: 'IGDB', providerId: '4711' }, { provider: 'FLASHPOINT', providerId: 'c0ffee' }]
  })
})

test('nothing is suggested without an id or a file', async (t) => {
  const ctx = openHttp({ status: 204 })
  await definition.suggest?.(createRom(), { igdb: undefined, csdb: 1 }, ctx)
  await definition.suggest?.(createRom({ files: [] }), { igdb: 1 }, ctx)
  t.equal(ctx.requests.length, 0)
})

test('the heartbeat succeeds when the health page responds without JSON', async (t) => {
  t.equal(await definition.heartbeat?.(createFixtureContext()), true)
  await t.rejects(async () => definition.heartbeat?.(openHttp({ status: 404 })), HttpStatusError)
})
