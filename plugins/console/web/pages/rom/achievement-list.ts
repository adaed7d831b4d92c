import { type Fields, readFields, readList, readNumber, readText } from '../../read-fields.ts'

export interface Achievement {
  id: string
  title: string
  description: string
  points: number
  /** The path of its picture; empty if none is stored. */
  picture: string
  /** The day on which the person earned it; null if they did not. */
  earned: string | null
}

interface Source {
  merged_ra_metadata: Fields
  ra_progression: unknown
  ra_id: number | null
}

/** Returns the dates on which a person earned achievements of a game, by the name of the badge. */
function readEarned (progression: unknown, raId: number | null): Map<string, string> {
  const games = readList(readFields(progression).results)
  const game = games.find(({ rom_ra_id: id }) => raId !== null && String(id) === String(raId))
  return new Map(
    readList(game?.earned_achievements).map(({ id, date, date_hardcore: hard }) => [
      String(id),
      readText(hard) || readText(date)
    ])
  )
}

/** Returns the achievements of a game in the order of the provider, earned ones first. */
export function listAchievements ({
  merged_ra_metadata: metadata,
  ra_progression: progression,
  ra_id: raId
}: Source): Achievement[] {
  const earned = readEarned(progression, raId)
  const orderOf = (one: Fields) => readNumber(one.display_order) ?? 0
  const inOrder = readList(metadata.achievements).toSorted((a, b) => orderOf(a) - orderOf(b))
  const all = inOrder.map((one): Achievement => {
    const date = earned.get(readText(one.badge_id)) ?? null
    return {
      id: String(one.ra_id ?? one.badge_id),
      title: readText(one.title),
      description: readText(one.description),
      points: readNumber(one.points) ?? 0,
      picture: readText(date === null ? one.badge_path_lock : one.badge_path) || readText(one.badge_path),
      earned: date
    }
  })
  return all.toSorted((a, b) => Number(b.earned !== null) - Number(a.earned !== null))
}
