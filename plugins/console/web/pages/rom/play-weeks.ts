/** Play time in one week. */
export interface Week { /** Monday, at midnight. */ start: Date, minutes: number }

interface Session { start: string, duration_seconds: number }

const DAY_MS = 86_400_000
/** The plot shows at least this many weeks, so that a single session does not fill it. */
const WEEKS_MIN = 8
const WEEKS_MAX = 53

/** Returns Monday of a time's week, at midnight in the time zone of the browser. */
export function mondayOf (time: Date): Date {
  const day = new Date(time.getFullYear(), time.getMonth(), time.getDate())
  day.setDate(day.getDate() - (day.getDay() + 6) % 7)
  return day
}

/** Adds up sessions by week, up to the present week. Weeks without a session are included. */
export function toWeeks (sessions: readonly Session[], now = new Date()): Week[] {
  const last = mondayOf(now)
  const starts = sessions.map(({ start }) => mondayOf(new Date(start)).getTime())
  const first = starts.length === 0 ? last.getTime() : Math.min(...starts)
  const span = Math.round((last.getTime() - first) / (7 * DAY_MS)) + 1
  const count = Math.min(WEEKS_MAX, Math.max(WEEKS_MIN, span))
  const weeks = Array.from({ length: count }, (_, index): Week => {
    const start = new Date(last)
    start.setDate(start.getDate() - 7 * (count - 1 - index))
    return { start, minutes: 0 }
  })
  const byStart = new Map(weeks.map((week) => [week.start.getTime(), week]))
  for (const [index, session] of sessions.entries()) {
    const week = byStart.get(starts[index] ?? Number.NaN)
    if (week !== undefined) week.minutes += session.duration_seconds / 60
  }
  return weeks
}
