import { useEffect, useRef, useState } from 'preact/hooks'
import { texts } from '../../i18n/language.ts'
import type { Rom } from '../../ui/cover.tsx'
import { hasLetters, loadAt } from './game-pages.ts'
import { type Jump, findFirst, listYears, thin } from './jump.ts'
import type { ListQuery } from './list-query.ts'

/** Orders by a date, whose years are places to jump to. */
const DATES: Readonly<Record<string, (rom: Rom) => number | string | null>> = {
  created_at: (rom) => rom.created_at,
  updated_at: (rom) => rom.updated_at,
  first_release_date: (rom) => rom.metadatum.first_release_date
}
const YEARS_MAX = 20
const LETTERS_MAX = 40

/** Returns the year of a ROM in the order of a list; null if it has no date. */
function yearOf (order: string, rom: Rom | undefined): number | null {
  const date = rom === undefined ? null : DATES[order]?.(rom) ?? null
  return date === null ? null : new Date(date).getUTCFullYear()
}

/** Lists the years of a list. The server has no index of them, so a jump finds its place by bisection. */
async function loadYears (query: ListQuery, count: number): Promise<Jump[]> {
  const { order_by: order = '', order_dir: direction } = query
  const yearAt = async (at: number) => yearOf(order, await loadAt(query, at))
  // ROMs without a date are at the end.
  const dated = await findFirst(count, async (at) => await yearAt(at) === null)
  if (dated === 0) return []
  const [first, last] = [await yearAt(0), await yearAt(dated - 1)]
  if (first === null || last === null || first === last) return []
  const isReached = (year: number, wanted: number) => direction === 'desc' ? year <= wanted : year >= wanted
  return listYears(first, last, YEARS_MAX).map((wanted) => ({
    label: String(wanted),
    find: () => findFirst(dated, async (at) => {
      const year = await yearAt(at)
      return year === null || isReached(year, wanted)
    })
  }))
}

/** The letters or years of a list that it can jump to. */
export function useJumps (query: ListQuery, count: number, letters: Readonly<Record<string, number>>): Jump[] {
  const [years, setYears] = useState<Jump[]>([])
  const { order_by: order = '' } = query
  const isDated = order in DATES
  const key = JSON.stringify(query)
  useEffect(() => {
    let isCurrent = true
    if (!isDated || count === 0) return
    loadYears(query, count).then((found) => { if (isCurrent) setYears(found) }).catch(() => {})
    return () => { isCurrent = false }
  }, [key, isDated, count])
  if (isDated) return years
  if (!hasLetters(query)) return []
  return thin(Object.entries(letters).sort(([, one], [, other]) => one - other), LETTERS_MAX)
    .map(([letter, at]) => ({ label: letter.toUpperCase(), at, find: () => at }))
}

interface JumpBarProps { jumps: readonly Jump[], onJump: (jump: Jump) => void }

const STEPS: Readonly<Record<string, (index: number, count: number) => number>> = {
  ArrowDown: (index, count) => Math.min(count - 1, index + 1),
  ArrowUp: (index) => Math.max(0, index - 1),
  Home: () => 0,
  End: (_index, count) => count - 1
}

/** Letters or years beside a list. A pointer may slide over them. Tab stops once; arrows, Home and End move. */
export function JumpBar ({ jumps, onJump }: JumpBarProps) {
  const { list } = texts()
  const bar = useRef<HTMLDivElement>(null)
  const [chosen, setChosen] = useState(0)
  const current = Math.min(chosen, jumps.length - 1)
  const handleKey = (event: KeyboardEvent): void => {
    const target = STEPS[event.key]?.(current, jumps.length)
    if (target === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    setChosen(target)
    bar.current?.querySelectorAll<HTMLElement>('[data-jump]')[target]?.focus()
  }
  const slide = (event: PointerEvent): void => {
    if (event.buttons !== 1) return
    const label = document.elementFromPoint(event.clientX, event.clientY)?.closest<HTMLElement>('[data-jump]')?.dataset.jump
    const jump = jumps.find((one) => one.label === label)
    if (jump?.at !== undefined) onJump(jump)
  }
  return (
    <div ref={bar} class='jump-bar' role='toolbar' aria-orientation='vertical' aria-label={list.jump} onPointerMove={slide} onKeyDown={handleKey}>
      {jumps.map((jump, index) => (
        <button
          key={jump.label} type='button' data-jump={jump.label} tabIndex={index === current ? 0 : -1} aria-label={list.jumpTo(jump.label)}
          onClick={() => { setChosen(index); onJump(jump) }}
        >
          {jump.label}
        </button>
      ))}
    </div>
  )
}

/** The jump bar of a phone. */
export function JumpSelect ({ jumps, onJump }: JumpBarProps) {
  const { list } = texts()
  return (
    <select
      class='input jump-select' aria-label={list.jump} value=''
      onChange={({ currentTarget }) => {
        const jump = jumps[Number(currentTarget.value)]
        currentTarget.value = ''
        if (jump !== undefined) onJump(jump)
      }}
    >
      <option value='' disabled>{list.jump}</option>
      {jumps.map(({ label }, index) => <option key={label} value={index}>{label}</option>)}
    </select>
  )
}
