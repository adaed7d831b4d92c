import type { CoverChoice } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { ApiError, badRequest } from '../../core/errors.ts'
import { keyRefused, noProvider } from './errors.ts'
import { mayBeShown } from '../roms/visibility.ts'
import type { ProviderAnswers, SearchCall, CoversAnswer, Failure, GamesAnswer } from './search-calls.ts'
import { ARTWORK_MS, GAMES_MS, createSearcher } from './search-providers.ts'
import { createPreviews } from './previews.ts'
import { mergeGames } from './merge-games.ts'
import { findRom } from './rows.ts'
import type { CoverGroupView, CoverView, SkippedProvider, SearchRomsQuery, SearchedGameView } from './schemas.ts'

/** Search results, and the providers without an answer. */
export interface Results<View> { results: View[], skipped: SkippedProvider[] }

const QUEUE = 'search'
const CONCURRENCY = 4
const TIMEOUT_MS = GAMES_MS + ARTWORK_MS + 7_000
const ADULT_AGE = 18

const NO_RESULTS: Results<never> = { results: [], skipped: [] }

const toSkippedProvider = ({ provider, code, reason, until }: Failure): SkippedProvider =>
  ({ provider, code, reason, until })

/** @throws ApiError if no provider answered of those that were asked */
function checkAnswered ({ isEnabled, answers, failures: all }: ProviderAnswers<unknown>, missing: string): void {
  if (!isEnabled) throw noProvider(missing)
  const failures = all.filter(({ isAsked }) => isAsked)
  if (answers.length > 0 || failures.length === 0) return
  const refused = failures.filter((failure) => failure.code === 'refused')
  if (refused.length === failures.length) {
    throw keyRefused(`Invalid ${refused.map(({ provider }) => provider.toUpperCase()).join(', ')} API key`)
  }
  throw new ApiError('UNAVAILABLE', 'No metadata provider answered: ' +
    failures.map(({ provider, reason, until }) => `${provider}: ${reason}${until === null ? '' : ` until ${until}`}`).join('; '))
}

function toCoverView (cover: CoverChoice): CoverView {
  const { url, thumb, style = '', author = '', width = 0, height = 0, score = 0 } = cover
  const { nsfw = false, humor = false, epilepsy = false, is_animated: isAnimated = false } = cover
  return {
    url, thumb, style, author, nsfw, humor, epilepsy, type: isAnimated ? 'animated' : 'static',
    width: Math.trunc(width), height: Math.trunc(height), score: Math.trunc(score)
  }
}

export function createSearch (app: FastifyInstance, config: Config) {
  app.jobs.define<SearchCall>(QUEUE, {
    concurrency: CONCURRENCY, timeoutSeconds: TIMEOUT_MS / 1_000, run: createSearcher(app, config)
  })

  /** Runs one search per user at a time, because each search asks every provider. */
  const searchInWorker = async (call: SearchCall, { id }: Caller) =>
    await app.jobs.request(QUEUE, call, TIMEOUT_MS, { group: `user:${id}` })

  const previews = createPreviews(app, config)

  return {
    /** Returns a small copy of a picture. @throws ApiError BAD_REQUEST if it cannot be downloaded or shown */
    picture: previews,

    /**
     * Returns games that providers offer for a ROM; none for a ROM that is unknown or hidden.
     *
     * @throws ApiError BAD_REQUEST for an id that is not a number · NO_PROVIDER · UNAVAILABLE if no provider answered
     */
    async games (context: Context, query: SearchRomsQuery): Promise<Results<SearchedGameView>> {
      const { caller } = context
      const by = query.search_by.toLowerCase()
      const rom = await findRom(context, query.rom_id)
      const term = query.search_term.trim() || (rom?.fs_name_no_tags ?? '')
      if (rom === null || term === '' || (by !== 'name' && by !== 'id')) return NO_RESULTS
      if (by === 'id' && (!/^\d+$/.test(term) || !Number.isSafeInteger(Number(term)))) {
        throw badRequest(`search_term is '${term}', which is not a number; send the id of the game at a provider`)
      }
      const answer = await searchInWorker({ kind: 'games', rom_id: query.rom_id, term, by }, caller) as GamesAnswer
      checkAnswered(answer, 'No metadata providers enabled')
      return {
        results: mergeGames(answer, rom, caller, {
          providers: app.roms.providers, priority: config.scan.priority.metadata
        }),
        skipped: answer.failures.map(toSkippedProvider)
      }
    },

    /**
     * Returns covers by game, from all providers with a choice of covers.
     *
     * @throws ApiError NO_PROVIDER · KEY_REFUSED if all providers refused their key · UNAVAILABLE
     */
    async covers (caller: Caller, given: string): Promise<Results<CoverGroupView>> {
      const term = given.trim()
      const answer = await searchInWorker({ kind: 'covers', term }, caller) as CoversAnswer
      checkAnswered(answer, 'No SteamGridDB enabled')
      const { artwork, cover = artwork } = config.scan.priority
      const positionOf = (key: string) => cover.includes(key) ? cover.indexOf(key) : cover.length
      const groups = answer.answers.toSorted(
        (a, b) => positionOf(a.key) - positionOf(b.key)
      ).flatMap(({ found }) => found)
      const results = groups.map(({ name, covers }) => ({
        name,
        resources: covers.filter(({ nsfw }) => nsfw !== true || mayBeShown(caller, ADULT_AGE)).map(toCoverView)
      }))
      return {
        results: results.filter(({ resources }) => resources.length > 0),
        skipped: answer.failures.map(toSkippedProvider)
      }
    }
  }
}
