import { type GameProgress, InvalidSettingsError, ServiceDownError, type Static, Type } from '@svc/plugin-sdk'
import { type Fields, isFields, readId, readText, toFieldsList } from '@svc/plugin-sdk/readers'
import { call } from './api.ts'
import type { RaContext } from './config.ts'
import { readBadgeName, readCount } from './map.ts'

/** The maximum size of a page. */
const PAGE_SIZE = 500
/** Number of games that are requested in parallel. */
const CONCURRENCY = 4
const STATUSES = {
  mastered: 'completed_100', completed: 'completed_100', 'beaten-hardcore': 'finished', 'beaten-softcore': 'finished'
} as const

// Longer than any name, because the service also accepts user ids of 26 characters.
export const AccountSchema = Type.Object({
  ra_username: Type.String({ maxLength: 26, description: 'Name at RetroAchievements' })
})

const Count = Type.Union([Type.Integer(), Type.Null()])
const Text = Type.Union([Type.String(), Type.Null()])
export const ProgressSchema = Type.Object({
  max_possible: Count,
  num_awarded: Count,
  num_awarded_hardcore: Count,
  most_recent_awarded_date: Text,
  highest_award_kind: Text,
  earned_achievements: Type.Array(Type.Object({
    id: Type.String({ description: 'Name of the badge' }), date: Type.String(), date_hardcore: Type.Optional(Type.String())
  }))
})
type Progress = GameProgress<Static<typeof ProgressSchema>>

/** @throws InvalidSettingsError for an invalid name */
export async function readProgress (
  { ra_username: name }: Static<typeof AccountSchema>, before: readonly Progress[] | undefined, ctx: RaContext
): Promise<Progress[]> {
  const games = (await listPlayed(name, ctx)).flatMap(toProgress)
  const former = new Map(before?.map((one) => [one.id, one]))
  const complete = async (game: Progress): Promise<Progress> => {
    const last = former.get(game.id)
    const formerAchievements = last !== undefined && isSame(last, game) ? last.earned_achievements : undefined
    return { ...game, earned_achievements: formerAchievements ?? await listEarned(game, name, ctx) }
  }
  const all: Progress[] = []
  for (let start = 0; start < games.length; start += CONCURRENCY) {
    all.push(...await Promise.all(games.slice(start, start + CONCURRENCY).map(complete)))
  }
  return all
}

/** Lists all games in which a user has progress. */
async function listPlayed (name: string, ctx: RaContext): Promise<Fields[]> {
  const played: Fields[] = []
  for (;;) {
    const answer = await readAnswer('GetUserCompletionProgress', { u: name, c: PAGE_SIZE, o: played.length }, ctx)
    if (!Array.isArray(answer.Results)) {
      throw new ServiceDownError('RetroAchievements answered without the games of a user; try again later')
    }
    const page = toFieldsList(answer.Results)
    played.push(...page)
    if (page.length < PAGE_SIZE || played.length >= (readCount(answer, 'Total') ?? Infinity)) return played
  }
}

async function readAnswer (name: string, query: Record<string, string | number>, ctx: RaContext): Promise<Fields> {
  const response = await call(ctx, name, query, [422])
  if (response.status === 422) {
    throw new InvalidSettingsError(`RetroAchievements does not accept the name '${query.u}'; correct ra_username`)
  }
  const answer = response.json()
  if (isFields(answer)) return answer
  throw new ServiceDownError('RetroAchievements answered with JSON that is not an object; try again later')
}

function toProgress (fields: Fields): Progress[] {
  const id = readId(fields, 'GameID')
  const kind = readText(fields, 'HighestAwardKind') ?? null
  return id === undefined
    ? []
    : [{
        id,
        max_possible: readCount(fields, 'MaxPossible'),
        num_awarded: readCount(fields, 'NumAwarded'),
        num_awarded_hardcore: readCount(fields, 'NumAwardedHardcore'),
        most_recent_awarded_date: readText(fields, 'MostRecentAwardedDate') ?? null,
        highest_award_kind: kind,
        earned_achievements: [],
        status: Object.entries(STATUSES).find(([award]) => award === kind)?.[1] ?? 'incomplete'
      }]
}

function isSame (a: Progress, b: Progress): boolean {
  return a.num_awarded === b.num_awarded && a.num_awarded_hardcore === b.num_awarded_hardcore &&
    a.most_recent_awarded_date === b.most_recent_awarded_date
}

async function listEarned ({ id, num_awarded: count }: Progress, name: string, ctx: RaContext) {
  if (count === 0) return []
  const answer = await readAnswer('GetGameInfoAndUserProgress', { g: id, u: name, a: 1 }, ctx)
  return toFieldsList(answer.Achievements).flatMap((achievement) => {
    const badge = readBadgeName(achievement)
    const hardcore = readText(achievement, 'DateEarnedHardcore')
    const date = readText(achievement, 'DateEarned') ?? hardcore
    if (badge === undefined || date === undefined) return []
    return [{ id: badge, date, ...hardcore !== undefined && { date_hardcore: hardcore } }]
  })
}
