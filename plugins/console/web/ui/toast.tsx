import { signal } from '@preact/signals'
import check from 'lucide/dist/esm/icons/circle-check.mjs'
import alert from 'lucide/dist/esm/icons/circle-alert.mjs'
import x from 'lucide/dist/esm/icons/x.mjs'
import { toFailure } from '../api/failure.ts'
import { texts } from '../i18n/language.ts'
import { Button, IconButton } from './button.tsx'
import { Icon } from './icon.tsx'

interface Toast {
  readonly id: number
  readonly kind: 'success' | 'failure'
  readonly text: string
  readonly action?: { readonly label: string, readonly run: () => void }
}

const toasts = signal<readonly Toast[]>([])
let lastId = 0
const SHOWN_MS = 6_000
/** A failure stays, because people may need to copy it. */
const LASTS = { success: SHOWN_MS, failure: 20_000 }

const close = (id: number): void => { toasts.value = toasts.value.filter((toast) => toast.id !== id) }

function show (toast: Omit<Toast, 'id'>): void {
  const id = ++lastId
  toasts.value = [...toasts.value.slice(-2), { ...toast, id }]
  setTimeout(() => { close(id) }, LASTS[toast.kind])
}

/** Tells that something was done, with a way to undo it for instance. */
export const tellSuccess = (text: string, action?: Toast['action']): void => { show({ kind: 'success', text, action }) }

/** Tells why something failed, by the server's own reason. */
export const tellFailure = (err: unknown): void => { show({ kind: 'failure', text: toFailure(err).message || texts().errors.failed.title }) }

/** The place of all toasts; screen readers announce them. */
export const Toasts = () => (
  <div class='toasts' role='status' aria-live='polite'>
    {toasts.value.map(({ id, kind, text, action }) => (
      <div key={id} class={`toast toast-${kind}`}>
        <Icon node={kind === 'success' ? check : alert} />
        <span>{text}</span>
        {action && <Button kind='quiet' isSmall onClick={() => { action.run(); close(id) }}>{action.label}</Button>}
        <IconButton isSmall icon={x} label={texts().common.close} onClick={() => { close(id) }} />
      </div>
    ))}
  </div>
)
