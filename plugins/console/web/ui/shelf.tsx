import left from 'lucide/dist/esm/icons/chevron-left.mjs'
import right from 'lucide/dist/esm/icons/chevron-right.mjs'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { texts } from '../i18n/language.ts'
import { IconButton } from './button.tsx'
import { readDirection, readKey } from './direction.ts'

interface ShelfProps {
  title: string
  /** A link behind the title. */
  more?: ComponentChildren
  isWide?: boolean
  /** Items that begin with a link or button each. */
  children: ComponentChildren
}

const STEPS: Readonly<Record<string, (index: number, count: number) => number>> = {
  ArrowRight: (index, count) => Math.min(count - 1, index + 1),
  ArrowLeft: (index) => Math.max(0, index - 1),
  Home: () => 0,
  End: (_index, count) => count - 1
}

const targetsOf = (row: HTMLElement): HTMLElement[] => [...row.querySelectorAll<HTMLElement>(':scope > * > :is(a, button), :scope > :is(a, button)')]

/** Which ends of a row can be scrolled to. */
function useEnds (row: { current: HTMLElement | null }) {
  const [ends, setEnds] = useState({ start: false, end: false })
  const measure = () => {
    const { current } = row
    if (current === null) return
    const way = Math.abs(current.scrollLeft)
    const next = { start: way > 1, end: way < current.scrollWidth - current.clientWidth - 1 }
    setEnds((former) => former.start === next.start && former.end === next.end ? former : next)
  }
  useEffect(() => {
    if (row.current === null) return
    const observer = new ResizeObserver(measure)
    observer.observe(row.current)
    return () => { observer.disconnect() }
  }, [])
  useEffect(measure)
  return { ...ends, measure }
}

/** A row that scrolls sideways. It is one stop of the Tab key; arrows, Home and End move in it. */
export function Shelf ({ title, more, isWide = false, children }: ShelfProps) {
  const { home } = texts()
  const id = useId()
  const row = useRef<HTMLDivElement>(null)
  const { start, end, measure } = useEnds(row)
  const active = useRef(0)

  /** Leaves one item in the order of Tab. */
  function rove (): void {
    if (row.current === null) return
    const targets = targetsOf(row.current)
    const current = Math.min(active.current, targets.length - 1)
    for (const [index, target] of targets.entries()) target.tabIndex = index === current ? 0 : -1
  }
  useEffect(rove)

  function handleKey (event: KeyboardEvent): void {
    const step = STEPS[readKey(event)]
    if (step === undefined || row.current === null || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    const targets = targetsOf(row.current)
    active.current = step(active.current, targets.length)
    rove()
    targets[active.current]?.focus()
    targets[active.current]?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }

  function handleFocus (event: FocusEvent): void {
    const index = row.current === null ? -1 : targetsOf(row.current).indexOf(event.target as HTMLElement)
    if (index >= 0) active.current = index
    rove()
  }

  const scroll = (direction: number) => {
    const { current } = row
    current?.scrollBy({ left: direction * (readDirection() === 'rtl' ? -1 : 1) * current.clientWidth * 0.85, behavior: 'smooth' })
  }
  return (
    <section aria-labelledby={id}>
      <div class='shelf-head'>
        <h2 id={id}>{title}</h2>
        {more}
        {(start || end) && (
          <div class='shelf-arrows'>
            <IconButton
              isSmall icon={left} tabIndex={-1} label={home.previous(title)} disabled={!start}
              onClick={() => { scroll(-1) }}
            />
            <IconButton
              isSmall icon={right} tabIndex={-1} label={home.next(title)} disabled={!end} onClick={() => { scroll(1) }}
            />
          </div>
        )}
      </div>
      <div
        ref={row} class={isWide ? 'shelf shelf-wide' : 'shelf'} role='group' aria-labelledby={id} onKeyDown={handleKey} onFocusIn={handleFocus}
        onScroll={measure}
      >
        {children}
      </div>
    </section>
  )
}
