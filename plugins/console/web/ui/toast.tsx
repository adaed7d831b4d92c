import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import check from 'lucide/dist/esm/icons/circle-check.mjs'
import alert from 'lucide/dist/esm/icons/circle-alert.mjs'
import x from 'lucide/dist/esm/icons/x.mjs'
import { toFailure } from '../api/failure.ts'
import { texts } from '../i18n/language.ts'
import { Button, IconButton } from './button.tsx'
import { Icon } from './icon.tsx'
import { isTyping } from './typing.ts'

interface Toast {
  readonly id: number
  readonly kind: 'success' | 'failure'
  readonly text: string
  readonly action?: { readonly label: string, readonly run: () => void }
}

const toasts = signal<readonly Toast[]>([])
let lastId = 0
const SHOWN_MS = 6_000
/** Longer, because people first read what they may undo. */
const UNDO_MS = 12_000
/** A failure stays, because people may need to copy it. */
const FAILURE_MS = 20_000
const MORE_MS = 2_000
const UNDO_KEYS = /Mac|iP(?:hone|ad)/.test(navigator.userAgent) ? '⌘ Z' : 'Ctrl Z'

const close = (id: number): void => { toasts.value = toasts.value.filter((toast) => toast.id !== id) }

/** Closes a toast after some time, but not while somebody is at one. */
function closeLater (id: number, ms: number): void {
  setTimeout(() => {
    if (document.querySelector('.toasts:is(:hover, :focus-within)') === null) close(id)
    else closeLater(id, MORE_MS)
  }, ms)
}

function show (toast: Omit<Toast, 'id'>): void {
  const id = ++lastId
  toasts.value = [...toasts.value.slice(-2), { ...toast, id }]
  closeLater(id, toast.kind === 'failure' ? FAILURE_MS : toast.action === undefined ? SHOWN_MS : UNDO_MS)
}

/** Tells that something was done, with a way to undo it. */
export const tellSuccess = (text: string, action?: Toast['action']): void => { show({ kind: 'success', text, action }) }

/** Tells why something failed, by the server's own reason. */
export const tellFailure = (err: unknown): void => { show({ kind: 'failure', text: toFailure(err).message || texts().errors.failed.title }) }

/** Undoes by Ctrl-Z what the newest toast offers to undo, because Tab reaches toasts only at the end of the page. */
function undoByKey (event: KeyboardEvent): void {
  const isUndo = event.key.toLowerCase() === 'z' && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey
  if (!isUndo || isTyping(event.target) || document.querySelector('dialog[open]') !== null) return
  const toast = toasts.value.findLast(({ action }) => action !== undefined)
  if (toast === undefined) return
  event.preventDefault()
  toast.action?.run()
  close(toast.id)
}

/** The place of all toasts, above open dialogs too; screen readers announce them. */
export function Toasts () {
  const list = useRef<HTMLDivElement>(null)
  /** The control that had the focus before a toast got it. */
  const before = useRef<HTMLElement | null>(null)
  const { value: shown } = toasts
  useEffect(() => {
    addEventListener('keydown', undoByKey)
    return () => { removeEventListener('keydown', undoByKey) }
  }, [])
  useEffect(() => {
    const { current: element } = list
    if (shown.length === 0 || element === null) return
    const isAbove = element.matches(':popover-open') && document.querySelector('dialog[open]') === null
    if (isAbove) return
    element.hidePopover()
    element.showPopover()
  }, [shown])

  const leave = (id: number): void => {
    close(id)
    if (toasts.value.length === 0) before.current?.focus()
  }
  const remember = ({ relatedTarget, currentTarget }: FocusEvent): void => {
    const isInside = relatedTarget instanceof Node && (currentTarget as Node).contains(relatedTarget)
    if (!isInside) before.current = relatedTarget instanceof HTMLElement ? relatedTarget : null
  }
  return (
    <div ref={list} class='toasts' popover='manual' role='status' aria-live='polite' onFocusIn={remember}>
      {shown.map(({ id, kind, text, action }) => (
        <div key={id} class={`toast toast-${kind}`}>
          <Icon node={kind === 'success' ? check : alert} />
          <span>{text}</span>
          {action && (
            <Button kind='quiet' isSmall aria-keyshortcuts='Control+Z Meta+Z' onClick={() => { action.run(); leave(id) }}>
              {action.label}<kbd aria-hidden>{UNDO_KEYS}</kbd>
            </Button>
          )}
          <IconButton isSmall icon={x} label={texts().common.close} onClick={() => { leave(id) }} />
        </div>
      ))}
    </div>
  )
}
