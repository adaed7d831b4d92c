import {
  type CoverGroup, CredentialsRefusedError, type Match, type ProviderDefinition, RateLimitedError
} from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { idTypeOf, knowsGames } from '../plugins/providers.ts'
import { callProvider } from '../../core/loader/calls/call-provider.ts'
import type { CallScope } from '../../core/loader/calls/call-scope.ts'
import { readPreferences } from '../../core/loader/context.ts'
import { createMemo } from '../../core/loader/calls/memo.ts'
import { TimeLimitError } from '../../core/concurrency/limit-time.ts'
import type { Loaded } from '../../core/loader/registry.ts'
import { formatDate } from '../../core/typebox.ts'
import { ProviderSkippedError, checkCircuit } from '../circuits/check-circuit.ts'
import { checkMatch } from '../matching/check-match.ts'
import { type RomForLookup, loadRomForLookup } from '../matching/rom-for-lookup.ts'
import {
  type ProviderAnswers, type SearchCall, type CoversAnswer, type Failure, type GameCandidate, type GamesAnswer,
  toComparedName
} from './search-calls.ts'
import { checkCovers } from './check-covers.ts'
import type { SkipCode } from './schemas.ts'

type Provider = Loaded<ProviderDefinition>
type CallOf<Kind> = Extract<SearchCall, { kind: Kind }>

/** Time limits, because people wait for the search and for the pictures after it. */
export const GAMES_MS = 15_000
export const ARTWORK_MS = 8_000
const GAMES_MAX = 100
/** Maximum number of games with pictures, because each game costs one request per artwork provider. */
const ILLUSTRATED_MAX = 40

const FETCHABLE = /^https?:\/\//i

const canSearch = ({ definition }: Provider) => knowsGames(definition) && definition.search !== undefined
const canFindById = ({ definition }: Provider) => definition.getById !== undefined && idTypeOf(definition) === 'integer'
const canIllustrate = ({ definition }: Provider) => definition.kind === 'artwork' && definition.search !== undefined

function toFoundGame ({ id, name = '', slug = '', summary = '', min_age: minAge, first_release_date: released, media = [] }: Match): GameCandidate {
  const cover = media.find(({ kind, url }) => kind === 'cover' && FETCHABLE.test(url))
  const year = released == null ? null : new Date(released).getUTCFullYear()
  return { id, name, slug, summary, min_age: minAge ?? null, year, url_cover: cover?.url ?? '' }
}

function explain (err: unknown): Omit<Failure, 'provider'> {
  const failure = (code: SkipCode, reason: string) => ({ code, reason, until: null, isAsked: true })
  if (err instanceof ProviderSkippedError) return { ...failure('not_called', err.message), until: formatDate(err.retryAt) }
  if (err instanceof TimeLimitError) return failure('timeout', 'it did not answer in time')
  if (err instanceof RateLimitedError) return failure('paused', 'it asks for a pause')
  if (err instanceof CredentialsRefusedError) return failure('refused', 'it refused its credentials')
  return failure('failed', 'it failed; see the log of the server')
}

function explainUnasked ({ key, definition }: Provider, rom: RomForLookup): Failure {
  const why: Pick<Failure, 'code' | 'reason'> = rom.isSupportedBy(definition)
    ? { code: 'no_numbers', reason: 'it has no games with numbers; search by name' }
    : {
        code: 'unknown_platform',
        reason: `it does not know the platform '${rom.platform.slug}'; an administrator can choose another one for the folder at /setup`
      }
  return { provider: key, ...why, until: null, isAsked: false }
}

/** Runs work with a time limit, which includes the wait in a provider's queue. */
async function withScope<Value> (
  config: Config, outer: AbortSignal, ms: number, work: (scope: CallScope) => Promise<Value>
): Promise<Value> {
  const late = new AbortController()
  const tooLate = new TimeLimitError(`No answer within ${ms / 1_000} s`)
  const timer = setTimeout(() => { late.abort(tooLate) }, ms)
  try {
    const signal = AbortSignal.any([outer, late.signal])
    return await work({ signal, memo: createMemo(), preferences: readPreferences(config) })
  } finally {
    clearTimeout(timer)
  }
}

/** One question to several providers. */
interface ProviderQuestion<Found> {
  providers: readonly Provider[]
  /** The signal of the request; it fails the search, while a time limit fails single providers. */
  outer: AbortSignal
  ask: (provider: Provider, definition: ProviderDefinition, ctx: never) => Promise<Found[]>
}

/** Asks all providers at once. An error of one provider affects only its own answer. */
async function searchAll<Found> (
  { circuits, log }: FastifyInstance, { providers, outer, ask }: ProviderQuestion<Found>, scope: CallScope
): Promise<Omit<ProviderAnswers<Found>, 'isEnabled'>> {
  const answers: ProviderAnswers<Found>['answers'] = []
  const failures: Failure[] = []
  await Promise.all(providers.map(async (provider) => {
    const { key } = provider
    try {
      checkCircuit(provider, circuits.of(key))
      const found = await callProvider(provider, scope, async (definition, ctx) => ask(provider, definition, ctx))
      answers.push({ key, found })
    } catch (err) {
      outer.throwIfAborted()
      if (!(err instanceof ProviderSkippedError)) log.warn({ err, provider: key }, 'provider did not answer a search')
      failures.push({ provider: key, ...explain(err) })
    }
  }))
  return { answers, failures }
}

/** Creates the function that asks providers for games and covers. Code of providers runs in the scan worker only. */
export function createSearcher (app: FastifyInstance, config: Config) {
  const list = () => [...app.registry.providers.values()]

  /** Asks artwork providers for pictures of these names. */
  async function findPictures (
    names: readonly string[], rom: RomForLookup, outer: AbortSignal
  ): Promise<Pick<GamesAnswer, 'artwork' | 'failures'>> {
    const providers = list().filter((provider) => canIllustrate(provider) && rom.isSupportedBy(provider.definition))
    const ask: ProviderQuestion<{ name: string, game: GameCandidate }>['ask'] = async (provider, definition, ctx) => {
      const { platform } = rom.toSdk(definition)
      const found = await Promise.all(names.map(async (term) => ({
        term, best: (await definition.search?.({ term, platform }, ctx) ?? [])[0]
      })))
      return found.flatMap(({ term, best }) => best === undefined
        ? []
        : [{ name: term, game: toFoundGame(checkMatch(best, provider) as Match) }])
    }
    const { answers, failures } = await withScope(config, outer, ARTWORK_MS,
      (scope) => searchAll(app, { providers, outer, ask }, scope))
    return { failures, artwork: answers.flatMap(({ key, found }) => found.map((one) => ({ key, ...one }))) }
  }

  async function findGames ({ rom_id: romId, term, by }: CallOf<'games'>, outer: AbortSignal): Promise<GamesAnswer> {
    const enabled = list().filter(canSearch)
    const noGames: GamesAnswer = { isEnabled: enabled.length > 0, answers: [], failures: [], artwork: [] }
    const rom = await loadRomForLookup(app, config, romId)
    if (rom === null) return noGames
    const searched = enabled.filter((provider) => rom.isSupportedBy(provider.definition) && (by === 'name' || canFindById(provider)))
    if (searched.length === 0) return { ...noGames, failures: enabled.map((provider) => explainUnasked(provider, rom)) }
    const ask: ProviderQuestion<GameCandidate>['ask'] = async (provider, definition, ctx) => {
      const sdkRom = rom.toSdk(definition)
      const found = by === 'id'
        ? [await definition.getById?.(Number(term) as never, sdkRom, ctx)].filter((match) => match !== undefined)
        : await definition.search?.({ term, platform: sdkRom.platform }, ctx) ?? []
      return found.slice(0, GAMES_MAX).map((match) => toFoundGame(checkMatch(match, provider) as Match))
    }
    const { answers, failures } = await withScope(config, outer, GAMES_MS, (scope) =>
      searchAll(app, { providers: searched, outer, ask }, { ...scope, preferences: rom.preferences }))
    const games = answers.flatMap(({ found }) => found)
    const names = [...new Set(games.map(({ name }) => toComparedName(name)))].filter(Boolean)
    if (names.length === 0) return { ...noGames, answers, failures }
    const { artwork, failures: further } = await findPictures(names.slice(0, ILLUSTRATED_MAX), rom, outer)
    return { ...noGames, answers, artwork, failures: [...failures, ...further] }
  }

  async function findCovers ({ term }: CallOf<'covers'>, outer: AbortSignal): Promise<CoversAnswer> {
    const enabled = list().filter(({ definition }) => definition.searchCovers !== undefined)
    const ask: ProviderQuestion<CoverGroup>['ask'] = async (provider, definition, ctx) =>
      checkCovers(await definition.searchCovers?.(term, ctx) ?? [], provider)
    const covers = await withScope(config, outer, GAMES_MS,
      (scope) => searchAll(app, { providers: enabled, outer, ask }, scope))
    return { isEnabled: enabled.length > 0, ...covers }
  }

  return async (call: SearchCall, signal: AbortSignal): Promise<GamesAnswer | CoversAnswer> =>
    call.kind === 'games' ? await findGames(call, signal) : await findCovers(call, signal)
}
