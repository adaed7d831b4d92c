import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { accountOf, holds, isGuest } from '../../api/session.ts'
import { format, texts } from '../../i18n/language.ts'
import { theme } from '../../theme.ts'
import { type Week, toWeeks } from './play-weeks.ts'
import { Section } from './section.tsx'

const HEIGHT = 160
const NONE: readonly never[] = []
const SESSIONS_MAX = 10_000

/** The play time of each week as bars. The table says the same to screen readers, and replaces a plot that fails. */
function Plot ({ weeks }: { weeks: readonly Week[] }) {
  const { playTime: words } = texts().rom
  const { date } = format()
  const box = useRef<HTMLDivElement>(null)
  const [isPlain, setPlain] = useState(false)
  const { value: shownTheme } = theme
  useEffect(() => {
    const { current: parent } = box
    if (parent === null) return
    let stop: (() => void) | null = null
    let isGone = false
    void import('./play-plot.ts')
      .then(({ drawWeeks }) => { if (!isGone) stop = drawWeeks(parent, weeks, HEIGHT, date) })
      .catch(() => { setPlain(true) })
    return () => {
      isGone = true
      stop?.()
    }
  }, [weeks, shownTheme])
  return (
    <>
      {!isPlain && <div ref={box} class='rom-plot' aria-hidden />}
      <table class={isPlain ? 'rom-weeks' : 'visually-hidden'}>
        <caption>{words.label}</caption>
        <thead>
          <tr>
            <th scope='col'>{words.week}</th>
            <th scope='col'>{words.minutes}</th>
          </tr>
        </thead>
        <tbody>
          {weeks.map(({ start, minutes }) => (
            <tr key={start.getTime()}>
              <td>{date(start)}</td>
              <td>{Math.round(minutes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

function Played ({ romId }: { romId: number }) {
  const { playTime: words } = texts().rom
  const { data: { value: sessions = NONE } } = useResource(
    `play-sessions ${romId}`,
    (signal) =>
      call(api.GET('/api/play-sessions', { params: { query: { rom_id: romId, limit: SESSIONS_MAX } }, signal })),
    { 'activity:clear': true }
  )
  const weeks = useMemo(() => toWeeks(sessions), [sessions])
  if (sessions.length === 0) return null
  const seconds = sessions.reduce((sum, { duration_seconds: one }) => sum + one, 0)
  return (
    <Section title={words.title} note={words.total(seconds, sessions.length)}>
      <Plot weeks={weeks} />
    </Section>
  )
}

/** The time that the person played a game, by week. */
export function PlayTime ({ romId }: { romId: number }) {
  const account = accountOf()
  return account !== null && !isGuest(account) && holds('roms.user.read') ? <Played romId={romId} /> : null
}
