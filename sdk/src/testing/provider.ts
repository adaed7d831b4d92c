import assert from 'node:assert/strict'
import { Type } from '@sinclair/typebox'
import {
  GameFieldsSchema, type LinkMatch, type Match, MatchSchema, type ProviderId, type Rom
} from '../metadata.ts'
import { listPlatformIds } from '../platforms.ts'
import type { Preferences } from '../context.ts'
import { InvalidSettingsError } from '../errors.ts'
import { type CoverGroup, PLAY_STATUSES, type Provider, type ProviderDefinition } from '../provider.ts'
import {
  type Call, type Caller, checkAbort, checkBrokenFiles, checkFaults, checkRefusedKey, checkWrongShapes, createCaller
} from './calls.ts'
import { type SuiteContext, createPluginContext } from './context.ts'
import { checkDefinition, checkNoSecrets, checkProviderDefinition, secretValues } from './definition.ts'
import { checkIsolation } from './isolation.ts'
import { checkPackage } from './package.ts'
import type { Responses } from './responses.ts'
import type { TestRunner } from './runner.ts'
import { type RomOverrides, createRom } from './samples.ts'
import { checkSchema } from './schema.ts'
import { deepFreeze, withoutUndefined } from './values.ts'

/** The ROM that the suite looks up, with the expected match. */
export interface KnownRom {
  /** A ROM that the planned responses know. The platform's `ids` come from the provider's table. */
  rom: RomOverrides
  /** The expected id of the match. Without an id the suite does not call `getById`. */
  id?: ProviderId
  /** The expected name of the match. */
  name?: string
}

/** The inputs of {@link testProvider}. Only `known` is required. */
export interface ProviderSuite {
  /** The package's folder or package.json. If set, the suite also checks README, CHANGELOG and manifest. */
  packageUrl?: URL | string
  /** The configuration, such as a key; the suite fills in defaults. */
  config?: unknown
  responses?: Responses
  /** The library, for a provider that reads files: path → text. */
  files?: Readonly<Record<string, string>>
  /** The folders that the configuration names, by property; each in the form of `files`. */
  folders?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Options of the scan. */
  options?: Readonly<Record<string, unknown>>
  /** Matches of the known ROM at other providers. */
  found?: Readonly<Record<string, Match | LinkMatch>>
  preferences?: Partial<Preferences>
  known: KnownRom
  /** A ROM that the planned responses do not know; default: the known ROM under another name, with other hashes. */
  unknown?: RomOverrides
  /** The search term; default the known ROM's name. */
  term?: string
  /** The known user's account settings, for a provider with `progress`. */
  account?: unknown
  /** Prepares a fresh context for use, such as by building its index. */
  prepare?: (ctx: SuiteContext) => Promise<void>
}

const UNKNOWN_NAME = 'Zyzzogeton Unheard Of (World).bin'
const MATCH_KEYS = new Set([...Object.keys(GameFieldsSchema.properties), 'id', 'score', 'ids', 'media', 'metadata'])

/**
 * Runs the conformance suite of providers. Every provider's own test calls this function.
 *
 * @example
 * t.test('conforms', (t) => testProvider(t, provider, { responses, known: { rom: { sha1_hash: '…' }, id: 12 } }))
 */
export async function testProvider (t: TestRunner, provider: Provider, suite: ProviderSuite) {
  const { definition } = provider
  const { packageUrl } = suite
  const caller = createCaller(provider, suite)
  const secrets = secretValues(definition.config, createPluginContext(provider, { config: suite.config }).config)
  const checkText = (text: string) => { checkNoSecrets(secrets, text, 'an error message') }
  const known = completeRom(definition, suite.known.rom)
  const unknown = completeRom(definition, suite.unknown ?? hideRom(suite.known.rom))
  const lookups = createLookups(definition, known, suite, secrets)
  const calls = [...lookups, ...createOtherCalls(definition, known, suite, secrets)]
  const [lookup] = calls
  assert.ok(lookup?.isLookup, 'a provider needs identify (rom, ctx), or getById (id, rom, ctx) and in its test known.id')

  await t.test('the definition can be used by the host', async () => {
    checkDefinition(provider, 'provider')
    checkProviderDefinition(definition, createPluginContext(provider, { config: suite.config }).config)
  })
  if (packageUrl !== undefined) {
    await t.test('the package can be published', async () => { await checkPackage(provider, packageUrl) })
  }
  await t.test('a known ROM returns a match that fits the schemas', async () => {
    checkKnown((await caller.succeed(lookup)).result, suite.known)
  })
  if (definition.identify !== undefined) {
    const identifyUnknown = createIdentify(definition, unknown, secrets)
    await t.test('an unknown ROM returns undefined', async () => {
      const { result } = await caller.succeed(identifyUnknown)
      assert.equal(result, undefined, `${unknown.fs_name} must not be found`)
    })
    await t.test('two concurrent ROMs do not affect each other', () => checkParallel(caller, lookup, identifyUnknown))
  }
  await t.test('the provider uses nothing but its context', async () => {
    await checkIsolation(() => caller.succeed(lookup))
  })
  for (const call of calls) {
    await testCall(t, caller, call, checkText)
    // A heartbeat may succeed although the service refuses the key.
    if (secrets.length === 0 || call.name === 'heartbeat') continue
    await t.test(`${call.name} reports a refused key`, () => checkRefusedKey(caller, call, secrets))
  }
  const { files } = suite
  if (files !== undefined) {
    await t.test('damaged files do not crash the provider', () => checkBrokenFiles(caller, lookup, files))
  }
  await definition.close?.()
}

async function testCall (t: TestRunner, caller: Caller, call: Call, checkText: (text: string) => void) {
  await t.test(`${call.name} returns a valid result`, async () => { await caller.succeed(call) })
  await t.test(`${call.name} ends with the reason of an aborted signal`, () => checkAbort(caller, call))
  await t.test(`${call.name} reports an outage as an outage`, () => checkFaults(caller, call, checkText))
  await t.test(`${call.name} rejects values of the wrong type`, () => checkWrongShapes(caller, call, checkText))
}

function completeRom (definition: ProviderDefinition, overrides: RomOverrides): Rom {
  const rom = createRom(overrides)
  const ids = overrides.platform?.ids ?? listPlatformIds(definition.platforms?.[rom.platform.slug])
  return deepFreeze({ ...rom, platform: { ...rom.platform, ids } })
}

/** Returns overrides for the same ROM with a name and hashes that no provider knows. */
function hideRom ({ platform }: RomOverrides): RomOverrides {
  return {
    fs_name: UNKNOWN_NAME,
    crc_hash: 'ffffffff',
    md5_hash: 'f'.repeat(32),
    sha1_hash: 'f'.repeat(40),
    ...(platform === undefined ? {} : { platform })
  }
}

function createIdentify (definition: ProviderDefinition, rom: Rom, secrets: readonly string[]): Call {
  return {
    name: 'identify',
    isLookup: true,
    run: async (ctx) => definition.identify?.(rom, ctx),
    check: (result) => { checkFound(definition, result, secrets) }
  }
}

/** Creates the calls that lead to a match, with `identify` first if the provider has it. */
function createLookups (
  definition: ProviderDefinition, rom: Rom, { known: { id } }: ProviderSuite, secrets: readonly string[]
): Call[] {
  const calls: Call[] = []
  if (definition.identify !== undefined) calls.push(createIdentify(definition, rom, secrets))
  if (definition.getById !== undefined && id !== undefined) {
    calls.push({
      name: 'getById',
      isLookup: true,
      run: async (ctx) => definition.getById?.(id, rom, ctx),
      check: (result) => { checkFound(definition, result, secrets) }
    })
  }
  return calls
}

function createOtherCalls (
  definition: ProviderDefinition, rom: Rom, suite: ProviderSuite, secrets: readonly string[]
): Call[] {
  const { term = rom.fs_name_no_tags, account } = suite
  const calls: Call[] = []
  if (definition.search !== undefined) {
    calls.push({
      name: 'search',
      run: async (ctx) => definition.search?.({ term, platform: rom.platform }, ctx),
      check: (result) => {
        assert.ok(Array.isArray(result), `search must give a list, not ${typeof result}`)
        for (const match of result as unknown[]) checkMatch(definition, match, secrets)
      }
    })
  }
  if (definition.heartbeat !== undefined) {
    calls.push({
      name: 'heartbeat',
      run: async (ctx) => definition.heartbeat?.(ctx),
      check: (result) => { assert.equal(typeof result, 'boolean', 'heartbeat must give true or false') },
      // A service that refuses a request, or shows a page, is running.
      emptyAfter: ['status 500', 'a time-out']
    })
  }
  if (definition.searchCovers !== undefined) {
    calls.push({
      name: 'searchCovers',
      run: async (ctx) => definition.searchCovers?.(term, ctx),
      check: (result) => { checkCovers(result) }
    })
  }
  const { progress } = definition
  if (progress !== undefined && account !== undefined) {
    const Game = Type.Object({
      id: Type.Union([Type.Integer(), Type.String()]),
      status: Type.Optional(Type.Union(PLAY_STATUSES.map((status) => Type.Literal(status))))
    })
    const schema = Type.Array(Type.Composite([progress.schema, Game]))
    calls.push({
      name: 'progress.read',
      run: async (ctx) => progress.read(account as never, undefined, ctx),
      check: (result) => { checkSchema(schema, result, 'the progress') },
      // The response of a service may say that the account does not exist.
      mayThrow: InvalidSettingsError
    })
  }
  return calls
}

function checkFound (definition: ProviderDefinition, result: unknown, secrets: readonly string[]) {
  assert.notEqual(result, null, 'nothing found is undefined, not null')
  if (result !== undefined) checkMatch(definition, result, secrets)
}

function checkCovers (result: unknown) {
  assert.ok(Array.isArray(result), `searchCovers must give a list, not ${typeof result}`)
  for (const { name, covers } of result as CoverGroup[]) {
    assert.ok(typeof name === 'string' && name !== '', 'every group of covers needs the name of its game')
    for (const { url, thumb } of covers) [url, thumb].forEach(checkMediaUrl)
  }
}

function checkMatch (definition: ProviderDefinition, match: unknown, secrets: readonly string[]) {
  assert.ok(typeof match === 'object' && match !== null, `a match is an object, not ${JSON.stringify(match)}`)
  const json: unknown = JSON.parse(JSON.stringify(match))
  assert.deepEqual(json, withoutUndefined(match), 'a match must stay the same when it becomes JSON and back')
  checkNoSecrets(secrets, JSON.stringify(match), 'the match')
  checkSchema(MatchSchema, json, 'the match')
  const { id, ids = {}, media = [], metadata } = json as Partial<Match>
  for (const key of Object.keys(match)) {
    assert.ok(MATCH_KEYS.has(key), `"${key}" is not a field of a match; the raw record belongs in metadata`)
  }
  if (definition.kind === 'ids') {
    assert.equal(id, undefined, "a match of the kind 'ids' has no id of its own")
    assert.ok('ids' in match, "a match of the kind 'ids' needs 'ids'")
  } else assert.equal(typeof id === 'string' ? 'string' : 'integer', definition.id, `the id ${JSON.stringify(id)} is not of the type ${definition.id}`)
  for (const key of Object.keys(ids)) {
    assert.ok(definition.order?.links?.includes(key), `ids.${key} is there, so order.links must have "${key}"`)
  }
  for (const { url } of media) checkMediaUrl(url)
  if (metadata === undefined) return
  assert.ok(definition.metadata !== undefined, 'there is metadata, so the definition needs a schema for it')
  checkSchema(definition.metadata, metadata, 'metadata')
}

function checkMediaUrl (url: string) {
  const [, path] = /^(?:file|folder):\/\/(.*)$/s.exec(url) ?? []
  if (path !== undefined) {
    const leaves = path === '' || path.startsWith('/') || path.split('/').includes('..')
    assert.ok(!leaves, `the media "${url}" must go on with a path that stays in the library or folder`)
    return
  }
  const protocol = URL.canParse(url) ? new URL(url).protocol : null
  assert.ok(protocol === 'https:' || protocol === 'http:', `the media "${url}" must be an absolute https:// or file:// URL`)
}

function checkKnown (result: unknown, { id, name }: KnownRom) {
  assert.ok(typeof result === 'object' && result !== null, 'the known ROM was not found')
  if (id !== undefined) assert.equal(Reflect.get(result, 'id'), id, 'the id of the match')
  if (name !== undefined) assert.equal(Reflect.get(result, 'name'), name, 'the name of the match')
}

async function checkParallel (caller: Caller, known: Call, unknown: Call) {
  const both: Call = {
    name: 'identify',
    run: (ctx) => Promise.all([known.run(ctx), unknown.run(ctx), known.run(ctx)]),
    check: () => undefined
  }
  const { result } = await caller.succeed(both)
  const [first, nothing, second] = result as unknown[]
  known.check(first)
  assert.equal(nothing, undefined, 'the unknown ROM must stay unknown beside a known one')
  assert.deepEqual(second, first, 'the same ROM must give the same match')
  assert.deepEqual(first, (await caller.succeed(known)).result, 'alone or beside another, a ROM must give the same match')
}
