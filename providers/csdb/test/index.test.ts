import { type LinkMatch, type Match, RateLimitedError, ServiceDownError } from '@svc/plugin-sdk'
import { type PlannedResponse, createPluginContext, testProvider } from '@svc/plugin-sdk/testing'
import fc from 'fast-check'
import t from 'tap'
import provider from '../src/index.ts'

const { definition } = provider
const FIXTURES = new URL('fixtures', import.meta.url)
const PAGE = 'https://csdb.dk/release/?id=900201'

function open (responses: readonly PlannedResponse[] | URL = FIXTURES, found: Record<string, Match | LinkMatch> = {}) {
  return createPluginContext(provider, { responses, found })
}

const read = async (id: number, ctx = open()) => await definition.getById?.(id, undefined, ctx)
const readText = async (text: string) => await read(5, open([{ url: '*', text }]))
/** Returns the match of a release with these elements. */
const readOf = async (xml: string) => await readText(`<CSDbData><Release><ID>5</ID><Name>Tide</Name>${xml}</Release></CSDbData>`)

t.test('conforms', (t) => testProvider(t, provider, {
  packageUrl: new URL('../package.json', import.meta.url),
  responses: FIXTURES,
  known: { rom: { fs_name: 'Copper Tides 64 (csdb-900201).d64', platform: { slug: 'c64' } }, id: 900201, name: 'Copper Tides 64' }
}))

t.test('a release is read by its id with all its fields', async (t) => {
  const ctx = open()
  const match = await read(900201, ctx)
  t.match(match, {
    id: 900201,
    name: 'Copper Tides 64',
    summary: `C64 Demo by Lantern, Beacon (1993) · Harbor Party 1993 / C64 Demo #2 · ${PAGE}`,
    alternative_names: ['Copper & Tides'],
    genres: ['C64 Demo'],
    companies: ['Lantern', 'Beacon'],
    first_release_date: Date.UTC(1993, 6, 31)
  })
  const url = 'https://csdb.dk/gfx/releases/900000/900201.png'
  t.same(match?.media, [{ kind: 'cover', url }, { kind: 'screenshot', url }])
  t.same(match?.metadata, {
    types: ['C64 Demo'],
    genres: ['C64 Demo'],
    groups: ['Lantern', 'Beacon'],
    companies: ['Lantern', 'Beacon'],
    platforms: ['C64'],
    credits: [
      { name: 'Wick', role: 'Music' }, { name: 'Ember', role: 'Code' }, { name: 'Wick', role: 'Graphics' },
      { name: 'Gale', role: 'Text' }
    ],
    party: 'Harbor Party 1993',
    party_line: 'Harbor Party 1993 / C64 Demo #2',
    rating: 9.25,
    csdb_url: PAGE,
    download_urls: [PAGE, 'https://csdb.dk/getinternalfile.php/1/tides.d64'],
    first_release_date: Date.UTC(1993, 6, 31) / 1000
  })
  t.equal(ctx.requests[0]?.url, 'https://csdb.dk/webservice/?type=release&id=900201&depth=2')
  t.match(ctx.requests[0]?.headers, { referer: 'https://csdb.dk/', accept: /application\/xml/ })
})

t.test('an unknown id, and a response for another id, return undefined', async (t) => {
  for (const text of ['huh', ' huh\n', '<CSDbData/>', '<?xml version="1.0"?><CSDbData></CSDbData>',
    '<CSDbData><Release><ID>6</ID><Name>Latest</Name></Release></CSDbData>', '<CSDbData><Release/></CSDbData>']) {
    t.equal(await readText(text), undefined, text)
  }
  for (const id of [0, -1, 1.5]) t.equal(await read(id, open([])), undefined)
})

t.test('dates are read with the precision they have', async (t) => {
  const date = async (xml: string) => {
    const match = await readOf(xml)
    return [match?.first_release_date, match?.metadata?.first_release_date, match?.summary]
  }
  const page = 'https://csdb.dk/release/?id=5'
  t.same(await date('<ReleaseYear>1993</ReleaseYear>'), [undefined, Date.UTC(1993) / 1000, `(1993) · ${page}`])
  t.same(await date('<ReleaseYear>1993</ReleaseYear><ReleaseMonth>7</ReleaseMonth>'),
    [undefined, Date.UTC(1993, 6) / 1000, `(1993) · ${page}`])
  t.same(await date('<ReleaseMonth>7</ReleaseMonth><ReleaseYear>soon</ReleaseYear>'), [undefined, undefined, page])
})

t.test('people replace missing groups, in each form of the response', async (t) => {
  for (const form of ['<Handle><ID>1</ID><Handle>Wick</Handle></Handle>', '<Scener><ID>1</ID><Handle>Wick</Handle></Scener>']) {
    const match = await readOf(`<Type>C64 Intro</Type><ReleasedBy>${form}</ReleasedBy>`)
    t.match(match, { companies: ['Wick'], summary: /^C64 Intro by Wick · /, metadata: { groups: [] } })
  }
})

t.test('HTML entities, stray ampersands and texts outside UTF-8 are read', async (t) => {
  const nameOf = async (name: string) => (await readText(`<CSDbData><Release><ID>5</ID><Name>${name}</Name></Release></CSDbData>`))?.name
  t.equal(await nameOf('Caf&eacute; &amp;eacute;t&#233;'), 'Café été')
  t.equal(await nameOf('Rock & Roll &amp; Tide &lt;3'), 'Rock & Roll & Tide <3')
  t.equal(await nameOf('Прилив'), 'Прилив')
  const bytes = Buffer.from('<CSDbData><Release><ID>5</ID><Name>Blåfjell</Name></Release></CSDbData>', 'latin1')
  t.equal((await read(5, open([{ url: '*', bytes }])))?.name, 'Blåfjell')
})

t.test('control characters and blanks before the declaration do not lose a release', async (t) => {
  const match = await readText('\r\n<?xml version="1.0" encoding="ISO-8859-1"?><CSDbData><Release><ID>5</ID>' +
    '<Name>Ti\u0001de&#x1f;s&#12;&#31;</Name><AKA>A&#13;&#65;</AKA></Release></CSDbData>')
  t.match(match, { name: 'Tides', alternative_names: [/^A\s*A$/] })
})

t.test('a picture is fetched by https, whatever its URL says', async (t) => {
  const match = await readOf('<ScreenShot>http://csdb.dk/gfx/releases/1000/5.png</ScreenShot>')
  t.match(match?.media, [{ kind: 'cover', url: 'https://csdb.dk/gfx/releases/1000/5.png' }, { kind: 'screenshot' }])
})

t.test('data of other providers are preserved, with the release\'s page once', async (t) => {
  const twin = (id: number, fields: object): Match => ({ id, ids: { csdb: 900201 }, ...fields })
  const cover = [{ kind: 'cover' as const, url: 'https://media.demozoo.org/a.png' }]
  const demozoo = twin(900001, { name: 'Copper Tides', summary: `Demo · ${PAGE}`, media: cover })
  const pouet = twin(900101, { name: 'Copper Tides at Pouët', summary: 'Demo · Pouët 0.8' })
  const own = await read(900201, open(FIXTURES, { demozoo }))
  t.match(own, { name: 'Copper Tides', summary: `Demo · ${PAGE}` })
  t.same(own?.media, [])
  const both = await read(900201, open(FIXTURES, { demozoo, pouet }))
  t.match(both, { name: 'Copper Tides at Pouët', summary: `Demo · Pouët 0.8 · ${PAGE}` })
  t.same(both?.media, [])
  t.match(await read(900201, open(FIXTURES, { pouet })), { media: [{ kind: 'cover' }, { kind: 'screenshot' }] })
  for (const stranger of [{ ...demozoo, ids: { csdb: 3 } }, { ids: { csdb: 900201 } }]) {
    t.match(await read(900201, open(FIXTURES, { demozoo: stranger })), { name: 'Copper Tides 64', summary: /^C64 Demo by Lantern/ })
  }
})

t.test('a picture of Demozoo is preserved where only Pouët links the release', async (t) => {
  const media = [{ kind: 'cover' as const, url: 'https://media.demozoo.org/a.png' }]
  const pouet: Match = { id: 900101, name: 'Copper Tides', ids: { csdb: 900201 }, media: [], metadata: { demozoo_id: 900001 } }
  const linked: Match = { id: 900001, name: 'Copper Tides', ids: { pouet: 900101, csdb: undefined }, media }
  for (const demozoo of [linked, { ...linked, ids: {} }]) {
    t.same((await read(900201, open(FIXTURES, { demozoo, pouet })))?.media, [])
  }
  const stranger = { ...linked, id: 5, ids: { pouet: 6 } }
  t.match(await read(900201, open(FIXTURES, { demozoo: stranger, pouet })), { media: [{ kind: 'cover' }, { kind: 'screenshot' }] })
})

t.test('values of another type are ignored', async (t) => {
  const match = await readOf('<ID/><Rating>high</Rating><ScreenShot>javascript:alert(1)</ScreenShot><Credits><Credit/></Credits>' +
    '<DownloadLinks><DownloadLink><Link>tides.d64</Link><Status>Ok</Status></DownloadLink></DownloadLinks><Achievement/>')
  t.same(match?.media, [])
  t.match(match, {
    name: 'Tide',
    metadata: { rating: undefined, credits: [], download_urls: ['https://csdb.dk/release/?id=5'], party_line: undefined }
  })
})

t.test('a rate limit and a response that is not CSDb\'s XML are errors', async (t) => {
  const run = (response: Partial<PlannedResponse>) => async () => await read(5, open([{ url: '*', ...response }]))
  await t.rejects(run({ status: 429 }), RateLimitedError)
  await t.rejects(run({ status: 503, text: '<html></html>' }), ServiceDownError)
  for (const text of ['<!doctype html><title>Just a moment</title>', '<html></html>', '', 'busy', '<CSDbData><Release>',
    '<!DOCTYPE a [<!ENTITY b "c">]><CSDbData><Release><ID>&b;</ID></Release></CSDbData>']) {
    await t.rejects(run({ text }), ServiceDownError, text)
  }
})

t.test('any response becomes a match, undefined or an outage', async () => {
  const part = fc.constantFrom('<CSDbData>', '</CSDbData>', '<Release>', '</Release>', '<ID>5</ID>', '<Handle>', '</Handle>',
    '<Credits>', '</Credits>', '&', '&amp;', '&nbsp;', '<', 'huh')
  await fc.assert(fc.asyncProperty(fc.array(fc.oneof(part, fc.string())), async (parts) => {
    await readText(parts.join('')).catch((err: unknown) => {
      if (!(err instanceof ServiceDownError)) throw err
    })
  }))
})

t.test('the heartbeat succeeds when CSDb returns a known release', async (t) => {
  t.equal(await definition.heartbeat?.(open()), true)
  t.equal(await definition.heartbeat?.(open([{ url: '*', text: 'huh' }])), false)
})
