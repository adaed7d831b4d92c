import minus from 'lucide/dist/esm/icons/zoom-out.mjs'
import plus from 'lucide/dist/esm/icons/zoom-in.mjs'
import up from 'lucide/dist/esm/icons/chevron-up.mjs'
import down from 'lucide/dist/esm/icons/chevron-down.mjs'
import external from 'lucide/dist/esm/icons/external-link.mjs'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { texts } from '../../../i18n/language.ts'
import { IconButton, LinkButton } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Notice, Skeleton } from '../../../ui/state.tsx'
import { type Manual, type Size, openManual } from './open-pdf.ts'
import { type ViewKey, pageAfter, widthAfter } from './view-keys.ts'

interface PageProps {
  manual: Manual
  number: number
  /** The size of the first page, until that of this page is known. */
  expected: Size
  /** The width in pixels of the screen. */
  width: number
  onVisible: (number: number) => void
}

/** One page, which is drawn while it is near the visible part. */
function Page ({ manual, number, expected, width, onVisible }: PageProps) {
  const { manual: words } = texts().rom
  const box = useRef<HTMLLIElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const [isNear, setNear] = useState(false)
  const [size, setSize] = useState(expected)
  const [text, setText] = useState('')

  useEffect(() => {
    const { current: element } = box
    if (element === null) return
    const root = element.closest('.manual-pages')
    const near = new IntersectionObserver(([entry]) => { setNear(entry?.isIntersecting === true) }, { root, rootMargin: '100% 0px' })
    const middle = new IntersectionObserver(([entry]) => { if (entry?.isIntersecting === true) onVisible(number) }, { root, rootMargin: '-50% 0px' })
    near.observe(element)
    middle.observe(element)
    return () => {
      near.disconnect()
      middle.disconnect()
    }
  }, [number])

  useEffect(() => {
    const { current: element } = canvas
    if (!isNear || element === null) return
    const ending = new AbortController()
    const draw = async () => {
      const found = await manual.sizeOf(number)
      ending.signal.throwIfAborted()
      setSize(found)
      await manual.draw(number, element, width * devicePixelRatio / found.width, ending.signal)
      setText(await manual.readText(number))
    }
    draw().catch((err: unknown) => { if (!ending.signal.aborted) reportError(err) })
    return () => {
      ending.abort()
      // A canvas without size needs no memory, of which phones have little.
      element.width = 0
      element.height = 0
    }
  }, [isNear, width, manual, number])

  return (
    <li ref={box} class='manual-page' data-page={number} style={{ inlineSize: `${width}px`, aspectRatio: `${size.width} / ${size.height}` }}>
      <canvas ref={canvas} role='img' aria-label={words.page(number)} />
      {text !== '' && <p class='visually-hidden'>{text}</p>}
    </li>
  )
}

const KEYS: Readonly<Record<string, ViewKey>> = {
  ArrowRight: 'next', ArrowLeft: 'previous', PageDown: 'next', PageUp: 'previous', Home: 'first', End: 'last', '+': 'larger', '=': 'larger', '-': 'smaller'
}

/** The widest page in pixels of the screen before it is enlarged. */
const WIDTH_MAX = 900

/** Returns the distance from the top of a page to the middle of the list, in heights of the page. */
function measurePart (list: HTMLElement, page: Element): number {
  const { top, height } = page.getBoundingClientRect()
  return (list.getBoundingClientRect().top + list.clientHeight / 2 - top) / height
}

/**
 * Keeps the middle of the list where it is when the width of all pages changes.
 *
 * @returns the function to call before the change
 */
function useStayingMiddle (list: { current: HTMLElement | null }, number: number, width: number): () => void {
  const page = () => list.current?.querySelector(`[data-page="${number}"]`)
  const part = useRef<number | null>(null)
  useLayoutEffect(() => {
    const [{ current: element }, shown] = [list, page()]
    if (part.current === null || element === null || shown == null) return
    element.scrollTop += (part.current - measurePart(element, shown)) * shown.getBoundingClientRect().height
    part.current = null
  }, [width])
  return () => {
    const shown = page()
    if (list.current !== null && shown != null) part.current = measurePart(list.current, shown)
  }
}

interface PagesProps { manual: Manual, first: Size, address: string }

/** The pages of a manual below each other, with their tools. */
function Pages ({ manual, first, address }: PagesProps) {
  const { manual: words } = texts().rom
  const list = useRef<HTMLOListElement>(null)
  const [current, setCurrent] = useState(1)
  const [room, setRoom] = useState(0)
  const [zoom, setZoom] = useState(1)
  const width = Math.round(room * zoom)
  const keepMiddle = useRef(() => {})
  keepMiddle.current = useStayingMiddle(list, current, width)

  useEffect(() => {
    const { current: element } = list
    if (element === null) return
    const measure = () => {
      const padding = parseFloat(getComputedStyle(element).paddingInlineStart)
      keepMiddle.current()
      setRoom(Math.min(element.clientWidth - 2 * padding, WIDTH_MAX))
    }
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    measure()
    element.focus()
    return () => { observer.disconnect() }
  }, [])

  function run (key: ViewKey): void {
    keepMiddle.current()
    setZoom((before) => widthAfter(key, before))
    const page = pageAfter(key, current, manual.pages)
    if (page === null) return
    setCurrent(page)
    list.current?.querySelector(`[data-page="${page}"]`)?.scrollIntoView({ block: 'start' })
  }
  function onKeyDown (event: KeyboardEvent): void {
    const key = KEYS[event.key]
    if (key === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    run(key)
  }
  return (
    <div class='manual'>
      <div class='manual-tools' role='group' aria-label={words.tools}>
        <IconButton icon={up} label={words.previous} isBlocked={current === 1} onClick={() => { run('previous') }} />
        <IconButton icon={down} label={words.next} isBlocked={current === manual.pages} onClick={() => { run('next') }} />
        <span class='number' role='status'>{words.pageOf(current, manual.pages)}</span>
        <IconButton icon={minus} label={words.smaller} onClick={() => { run('smaller') }} />
        <IconButton icon={plus} label={words.larger} onClick={() => { run('larger') }} />
        <LinkButton kind='quiet' target='_blank' rel='noreferrer' href={address} aria-label={words.file} title={words.file}><Icon node={external} /></LinkButton>
      </div>
      <ol ref={list} class='manual-pages' tabIndex={0} aria-label={words.pages} onKeyDown={onKeyDown}>
        {room > 0 && Array.from({ length: manual.pages }, (_, index) => (
          <Page key={index} manual={manual} number={index + 1} expected={first} width={width} onVisible={setCurrent} />
        ))}
      </ol>
    </div>
  )
}

interface ViewerProps { title: string, address: string, onClose: () => void }

/** Shows a manual page by page. A file that cannot be read is offered as it is. */
export default function ManualViewer ({ title, address, onClose }: ViewerProps) {
  const { manual: words } = texts().rom
  const [opened, setOpened] = useState<{ manual: Manual, first: Size } | null>(null)
  const [isBroken, setBroken] = useState(false)
  useEffect(() => {
    const ending = new AbortController()
    const open = async () => {
      const manual = await openManual(address, ending.signal)
      const first = await manual.sizeOf(1)
      if (!ending.signal.aborted) setOpened({ manual, first })
    }
    open().catch(() => { if (!ending.signal.aborted) setBroken(true) })
    return () => { ending.abort() }
  }, [address])
  return (
    <Dialog title={title} isOpen isFull onClose={onClose}>
      {opened !== null && <Pages manual={opened.manual} first={opened.first} address={address} />}
      {opened === null && !isBroken && <Skeleton height='70vh' />}
      {isBroken && (
        <div class='stack'>
          <Notice kind='failure'>{words.broken}</Notice>
          <div><LinkButton icon={external} target='_blank' rel='noreferrer' href={address}>{words.file}</LinkButton></div>
        </div>
      )}
    </Dialog>
  )
}
