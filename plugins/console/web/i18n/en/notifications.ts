import { createFormat } from '../format.ts'

const { plural } = createFormat('en')

/** The inbox, with the texts of notifications that the server sends without one. */
export const notifications = {
  title: 'Notifications',
  unread: 'Unread',
  markAll: 'Mark all as read',
  markNamed: (title: string) => `Mark as read: ${title}`,
  dismissNamed: (title: string) => `Dismiss: ${title}`,
  dismissAll: 'Dismiss all',
  dismissAllText: 'All notifications disappear from your inbox, also the unread ones.',
  none: {
    title: 'Nothing new',
    text: 'Finished scans, failed tasks and messages appear here. You can also have them sent to you.',
    action: 'Set up a channel'
  },
  levels: { info: 'Information', success: 'Success', warning: 'Warning', error: 'Error' },
  kinds: {
    scan_completed: {
      title: 'Scan finished',
      body: (count: number) => count === 0 ? 'No new games.' : plural(count, { one: '# new game.', other: '# new games.' }),
      failed: (count: number, reasons: string) => `${plural(count, { one: '# lookup failed', other: '# lookups failed' })}: ${reasons}`
    },
    scan_failed: { title: 'The scan failed' },
    provider_refused: { title: (name: string) => `${name} refused its credentials` },
    task_completed: { title: (task: string) => `Task finished: ${task}` },
    task_failed: { title: (task: string) => `Task failed: ${task}` },
    streaming_session_ended: { title: (game: string) => `Stream ended: ${game}` },
    role_changed: { admin: 'You are an administrator now', user: 'You are no longer an administrator' },
    channel_disabled: { title: (name: string) => `Channel turned off: ${name}` },
    device_install_completed: { title: (game: string, device: string) => `${game} is on ${device}` },
    device_install_failed: { title: (game: string, device: string) => `${game} did not reach ${device}` },
    deletions_reverted: {
      title: (device: string) => `${device} deleted many files at once`,
      body: (count: number) => plural(count, {
        one: '# file was restored. Delete it in your library if you no longer want it.',
        other: '# files were restored. Delete them in your library if you no longer want them.'
      })
    }
  }
}
