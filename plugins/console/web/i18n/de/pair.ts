import type { Messages } from '../en.ts'

export const pair: Messages['pair'] = {
  title: 'Gerät verbinden',
  code: 'Code auf dem Gerät',
  codeHint: 'Das Gerät zeigt ihn, während es wartet. Groß- und Kleinschreibung sind egal.',
  find: 'Weiter',
  warning: (name) => `Stimme nur zu, wenn das Gerät vor dir liegt und diesen Code zeigt. Es handelt dann als ${name}.`,
  scopes: 'Das Gerät darf',
  name: 'Name des Geräts',
  approve: 'Zustimmen',
  deny: 'Ablehnen',
  approved: { title: 'Verbunden', text: 'Mach auf dem Gerät weiter. Du kannst es in deinem Konto jederzeit trennen.' },
  denied: { title: 'Abgelehnt', text: 'Das Gerät bekommt keinen Zugang.' },
  home: 'Zur Startseite'
}
