import bell from 'lucide/dist/esm/icons/bell.mjs'
import { api, call } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { format, texts } from '../i18n/language.ts'
import { Icon } from '../ui/icon.tsx'

const SHOWN_MAX = 99

/** The notifications of the account; the inbox and the bell share them. */
export const useNotifications = () => useResource('notifications', (signal) => call(api.GET('/api/notifications', { signal })), {
  'notifications:new': true, 'notifications:read': true, 'notifications:dismissed': true
})

/** The link to the inbox, with the number of unread notifications. */
export function Bell () {
  const { common } = texts()
  const { data: { value: all = [] } } = useNotifications()
  const unread = all.filter(({ read_at: readAt }) => readAt === null).length
  return (
    <a
      class='button button-quiet button-icon bell' href='notifications' title={common.inbox}
      aria-label={unread === 0 ? common.inbox : common.unread(unread)}
    >
      <Icon node={bell} />
      {unread > 0 && <span class='bell-count' aria-hidden>{unread > SHOWN_MAX ? `${SHOWN_MAX}+` : format().number(unread)}</span>}
    </a>
  )
}
