import assert from 'node:assert/strict'
import type { ExportGame, ExportPlatform, ExportResult, Exporter, ExporterDefinition } from '../exporter.ts'
import { MEDIA_KINDS } from '../metadata.ts'
import { type Call, type Caller, createCaller } from './calls.ts'
import { checkDefinition } from './definition.ts'
import { checkIsolation } from './isolation.ts'
import { checkPackage } from './package.ts'
import type { TestRunner } from './runner.ts'
import { createExportGame } from './samples.ts'
import { deepFreeze } from './values.ts'

/** The inputs of {@link testExporter}. Only `read` and `unparsable` are required. */
export interface ExporterSuite {
  /** The package's folder or package.json. If set, the suite also checks README, CHANGELOG and manifest. */
  packageUrl?: URL | string
  /** The configuration; the suite fills in defaults. */
  config?: unknown
  /** Default: the Super Nintendo in the folder `snes`. */
  platform?: ExportPlatform
  /** Default: two games, one with every field and one with only a name. */
  games?: readonly ExportGame[]
  /** A file as a frontend or a person left it, with the parts that an export must preserve. */
  existing?: { text: string, keeps: readonly string[] }
  /** A file that cannot be parsed; null when the format has none, because every text is valid. */
  unparsable: string | null
  /** Reads an exported text and returns the path of every game, relative to the platform folder, and its name. */
  read: (text: string) => readonly { path: string, name?: string }[]
}

const PLATFORM: ExportPlatform = { slug: 'snes', fs_slug: 'snes', name: 'Super Nintendo Entertainment System' }
const UNUSUAL_NAMES = [
  'Quote "double" and \'single\'', 'Salt & Pepper <b>', 'Emoji 🎮 Game', 'Line\nbreak', ' Leading space', 'Trailing space ',
  'Game: The Sequel', '#1 Game', 'Comma, Semicolon; Tab\there', 'Back\\slash\\n', '=1+1', '.', '日本語', ']]> --> ?>', '&amp; %20',
  '{file.path}', '- dash', '@at', 'NUL\u0001control'
]
const NONSENSE = '\u{1f9ff} nothing any frontend wrote {[(<\nsecond line: =;,'

/** Runs the conformance suite of exporters. Every exporter's own test calls this function. */
export async function testExporter (t: TestRunner, exporter: Exporter, suite: ExporterSuite) {
  const { definition } = exporter
  const { packageUrl, existing, platform = PLATFORM, unparsable } = suite
  const games = suite.games ?? [createExportGame(), createBareGame()]
  const caller = createCaller(exporter, { config: suite.config })
  const render = createRender(caller, definition, platform)

  await t.test('the definition can be used by the host', async () => {
    checkDefinition(exporter, 'exporter')
    checkExporterDefinition(definition)
  })
  if (packageUrl !== undefined) {
    await t.test('the package can be published', async () => { await checkPackage(exporter, packageUrl) })
  }
  await t.test('every game is either in the text exactly once or reported as skipped', async () => {
    checkGames(games, await render(games, null), suite)
  })
  await t.test('an export over its own output changes no byte', async () => {
    await checkStable(render, games, null)
    await checkStable(render, [], null)
    if (existing !== undefined) await checkStable(render, games, existing.text)
  })
  await t.test('awkward names survive or are reported as skipped', () => checkUnusualNames(render, suite))
  await t.test('an export of no games keeps the existing games', async () => {
    const { text } = await render(games, null)
    const kept = paths(suite.read((await render([], text)).text))
    assert.deepEqual(kept, paths(suite.read(text)), 'games that are not in the library stay as they are')
  })
  if (existing !== undefined) {
    await t.test('content of others is preserved', async () => {
      const { text } = await render(games, existing.text)
      for (const part of existing.keeps) assert.ok(text.includes(part), `${JSON.stringify(part)} was lost:\n${text}`)
    })
  }
  await t.test('a file that cannot be parsed is not destroyed', () => checkUnparsable(render, games, unparsable))
  await t.test('render uses nothing but its arguments', () => checkIsolation(() => render(games, null)))
  await definition.close?.()
}

type Render = (games: readonly ExportGame[], existing: string | null) => Promise<ExportResult>

function createRender (caller: Caller, definition: ExporterDefinition, platform: ExportPlatform): Render {
  return async function render (games, existing) {
    const call: Call = {
      name: 'render',
      run: async (ctx) => definition.render(deepFreeze(platform), deepFreeze(games), existing, ctx),
      check: checkResult
    }
    const { ctx, result } = await caller.succeed(call)
    assert.equal(ctx.requests.length, 0, 'an exporter makes no requests; everything it needs is in its arguments')
    return result as ExportResult
  }
}

function checkResult (result: unknown) {
  assert.ok(typeof result === 'object' && result !== null, 'render must give { text, skipped }')
  const { text, skipped } = result as Partial<ExportResult>
  assert.ok(typeof text === 'string' && text.isWellFormed(), 'text must be the whole new file, without lone surrogates')
  assert.ok(Array.isArray(skipped), 'skipped must be a list; empty when the file holds every game')
  for (const { rom_id: id, reason } of skipped) {
    assert.ok(typeof reason === 'string' && reason !== '', `skipped: say why ROM ${id} is not in the file`)
  }
}

function checkExporterDefinition ({ fileName, media, route }: ExporterDefinition) {
  assert.match(fileName, /^[A-Za-z0-9][A-Za-z0-9._-]*$/, `fileName "${fileName}" must be one plain file name`)
  if (route !== undefined) assert.match(route, /^[a-z][a-z0-9-]*$/, `route "${route}" must be one part of an address`)
  for (const [kind, folder] of Object.entries(media)) {
    assert.ok(MEDIA_KINDS.some((known) => known === kind), `media: "${kind}" is not a kind of media`)
    const isInside = folder !== '' && !folder.startsWith('/') && !folder.split('/').includes('..')
    assert.ok(isInside, `media.${kind} must be a folder inside the platform's, not "${folder}"`)
  }
}

function createBareGame (): ExportGame {
  return createExportGame({
    rom_id: 2,
    fs_name: 'Lantern Row.sfc',
    path: 'hacks/Lantern Row.sfc',
    summary: null,
    genres: [],
    franchises: [],
    companies: [],
    developers: [],
    publishers: [],
    regions: [],
    languages: [],
    player_count: null,
    first_release_date: null,
    average_rating: null,
    media: {}
  })
}

function paths (entries: readonly { path: string }[]): string[] {
  return entries.map((entry) => entry.path).sort()
}

function checkGames (games: readonly ExportGame[], { text, skipped }: ExportResult, { read }: ExporterSuite) {
  const reported = new Set(skipped.map((one) => one.rom_id))
  const expected = games.filter((game) => !reported.has(game.rom_id))
  const entries = read(text)
  assert.deepEqual(paths(entries), paths(expected), 'the paths in the file must be those of the games not skipped')
  for (const { path, name } of expected) {
    const written = entries.find((entry) => entry.path === path)?.name
    if (written !== undefined) assert.equal(flatten(written), flatten(name), `the name of ${JSON.stringify(path)}`)
  }
}

/** Normalizes a name, because a format may turn line feeds into spaces and drop control characters. */
function flatten (name: string): string {
  // eslint-disable-next-line no-control-regex
  return name.replace(/[\0-\x08\x0B\x0C\x0E-\x1F]/g, '').replace(/\s+/g, ' ').trim()
}

async function checkStable (render: Render, games: readonly ExportGame[], existing: string | null) {
  const { text } = await render(games, existing)
  const again = await render(games, text)
  assert.equal(again.text, text, 'the second export must leave the file byte-identical')
}

async function checkUnusualNames (render: Render, suite: ExporterSuite) {
  const plain = createExportGame({ rom_id: 1000 })
  const unusualGames = UNUSUAL_NAMES.map((name, index) => createExportGame({
    rom_id: index + 1, name, fs_name: `${name}.sfc`, path: `sub folder/${name}.sfc`, summary: `${name}\n\n${name}`, genres: [name]
  }))
  const games = [...unusualGames, plain]
  const result = await render(games, null)
  checkGames(games, result, suite)
  assert.ok(!result.skipped.some((one) => one.rom_id === plain.rom_id), 'a plain game must not be lost to an awkward one')
  await checkStable(render, games, null)
}

async function checkUnparsable (render: Render, games: readonly ExportGame[], unparsable: string | null) {
  if (unparsable !== null) {
    await assert.rejects(render(games, unparsable), Error,
      'render must throw for a file it does not understand: the host then leaves it alone')
    return
  }
  const { text } = await render(games, NONSENSE)
  for (const line of NONSENSE.split('\n')) assert.ok(text.includes(line), `the line ${JSON.stringify(line)} was lost`)
}
