import { createFormat } from '../format.ts'
import type { Messages } from '../en.ts'

const { plural } = createFormat('de')

export const notifications: Messages['notifications'] = {
  title: 'Benachrichtigungen',
  unread: 'Ungelesen',
  markAll: 'Alle als gelesen markieren',
  markNamed: (title) => `Als gelesen markieren: ${title}`,
  dismissNamed: (title) => `Verwerfen: ${title}`,
  dismissAll: 'Alle verwerfen',
  dismissAllText: 'Alle Benachrichtigungen verschwinden aus deinem Posteingang, auch die ungelesenen.',
  none: {
    title: 'Nichts Neues',
    text: 'Fertige Scans, gescheiterte Aufgaben und Nachrichten erscheinen hier. Du kannst sie dir auch schicken lassen.',
    action: 'Kanal einrichten'
  },
  levels: { info: 'Hinweis', success: 'Erfolg', warning: 'Warnung', error: 'Fehler' },
  kinds: {
    scan_completed: {
      title: 'Scan fertig',
      body: (count) => count === 0 ? 'Keine neuen Spiele.' : plural(count, { one: '# neues Spiel.', other: '# neue Spiele.' }),
      failed: (count, reasons) => `${plural(count, { one: '# Suche ist gescheitert', other: '# Suchen sind gescheitert' })}: ${reasons}`
    },
    scan_failed: { title: 'Der Scan ist gescheitert' },
    provider_refused: { title: (name) => `${name} hat die Zugangsdaten abgelehnt` },
    task_completed: { title: (task) => `Aufgabe fertig: ${task}` },
    task_failed: { title: (task) => `Aufgabe gescheitert: ${task}` },
    streaming_session_ended: { title: (game) => `Stream beendet: ${game}` },
    role_changed: { admin: 'Du bist jetzt Administrator', user: 'Du bist kein Administrator mehr' },
    channel_disabled: { title: (name) => `Kanal ausgeschaltet: ${name}` },
    device_install_completed: { title: (game, device) => `${game} ist auf ${device}` },
    device_install_failed: { title: (game, device) => `${game} kam nicht auf ${device} an` },
    deletions_reverted: {
      title: (device) => `${device} hat viele Dateien auf einmal gelöscht`,
      body: (count) => plural(count, {
        one: '# Datei wurde wiederhergestellt. Lösche sie in deiner Bibliothek, wenn du sie nicht mehr willst.',
        other: '# Dateien wurden wiederhergestellt. Lösche sie in deiner Bibliothek, wenn du sie nicht mehr willst.'
      })
    }
  }
}
