import bell from 'lucide/dist/esm/icons/bell.mjs'
import check from 'lucide/dist/esm/icons/circle-check.mjs'
import alert from 'lucide/dist/esm/icons/circle-alert.mjs'
import info from 'lucide/dist/esm/icons/info.mjs'
import warning from 'lucide/dist/esm/icons/triangle-alert.mjs'
import x from 'lucide/dist/esm/icons/x.mjs'
import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { cache } from '../../api/resource.ts'
import { accountOf, isGuest } from '../../api/session.ts'
import { format, texts } from '../../i18n/language.ts'
import { useTitle } from '../../navigate.ts'
import { useNotifications } from '../../shell/bell.tsx'
import { Button, IconButton, LinkButton } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Empty, Loaded, Skeleton } from '../../ui/state.tsx'
import { tellFailure } from '../../ui/toast.tsx'
import { Forbidden } from '../errors/errors.tsx'
import { type Notification, viewOf, wordsOf } from './notification-text.ts'

const ICONS = { info, success: check, warning, error: alert }
const KEY = 'notifications'

/** Marks notifications as read; null means all. */
async function markRead (ids: number[] | null): Promise<void> {
  await call(api.POST('/api/notifications/read', { body: { ids } }))
  const now = new Date().toISOString()
  const isNew = ({ id, read_at: readAt }: Notification) => readAt === null && (ids === null || ids.includes(id))
  cache.set<Notification[]>(KEY, (all) => all?.map((one) => isNew(one) ? { ...one, read_at: now } : one))
}

async function dismiss (id: number): Promise<void> {
  await call(api.DELETE('/api/notifications/{notification_id}', { params: { path: { notification_id: id } } }))
  cache.set<Notification[]>(KEY, (all) => all?.filter((one) => one.id !== id))
}

function Entry ({ notification }: { notification: Notification }) {
  const { notifications } = texts()
  const { ago, dateTime } = format()
  const { id, level, read_at: readAt, created_at: createdAt } = notification
  const { title, body } = wordsOf(notification, notifications.kinds)
  const view = viewOf(notification)
  const isUnread = readAt === null
  const [isBusy, setBusy] = useState(false)
  const remove = ({ detail: clicks }: MouseEvent) => {
    // The second click of a double click would hit the next notification, which moved up.
    if (clicks > 1) return
    setBusy(true)
    dismiss(id).catch(tellFailure).finally(() => { setBusy(false) })
  }
  const read = () => { if (isUnread) markRead([id]).catch(tellFailure) }
  return (
    <li class={isUnread ? 'note note-unread' : 'note'}>
      <span class={`note-icon note-${level}`}><Icon node={ICONS[level]} label={notifications.levels[level]} /></span>
      <div class='row-text'>
        <p class='note-title'>
          {isUnread && <span class='visually-hidden'>{notifications.unread}: </span>}
          {view === null ? title : <a href={view} onClick={read}>{title}</a>}
        </p>
        {body !== '' && <p class='soft'>{body}</p>}
        <p class='faint'><time dateTime={createdAt} title={dateTime(createdAt)}>{ago(createdAt)}</time></p>
      </div>
      <div class='row-actions'>
        {isUnread && <IconButton isSmall icon={check} label={notifications.markNamed(title)} onClick={read} />}
        <IconButton isSmall isBusy={isBusy} icon={x} label={notifications.dismissNamed(title)} onClick={remove} />
      </div>
    </li>
  )
}

/** The inbox of the account. */
export default function Notifications () {
  const { notifications } = texts()
  useTitle(notifications.title)
  const all = useNotifications()
  const [isAsking, setAsking] = useState(false)
  const account = accountOf()
  if (account === null || isGuest(account)) return <Forbidden />
  const list = all.data.value ?? []
  const hasUnread = list.some(({ read_at: readAt }) => readAt === null)
  return (
    <div class='narrow'>
      <div class='page-head'>
        <h1>{notifications.title}</h1>
        <div class='page-tools'>
          {hasUnread && (
            <Button icon={check} onClick={() => { markRead(null).catch(tellFailure) }}>{notifications.markAll}</Button>
          )}
          {list.length > 0 && (
            <Button kind='quiet' onClick={() => { setAsking(true) }}>{notifications.dismissAll}</Button>
          )}
        </div>
      </div>
      <Loaded resource={all} skeleton={<Skeleton height='18rem' />}>
        {(shown) => shown.length === 0
          ? (
            <Empty icon={bell} title={notifications.none.title} text={notifications.none.text}>
              <LinkButton href='account/channels'>{notifications.none.action}</LinkButton>
            </Empty>
            )
          : <ul class='card notes'>{shown.map((one) => <Entry key={one.id} notification={one} />)}</ul>}
      </Loaded>
      <Confirm
        title={notifications.dismissAll} text={notifications.dismissAllText} action={notifications.dismissAll}
        isOpen={isAsking}
        onClose={() => { setAsking(false) }}
        onConfirm={async () => {
          await call(api.DELETE('/api/notifications'))
          cache.set<Notification[]>(KEY, () => [])
        }}
      />
    </div>
  )
}
