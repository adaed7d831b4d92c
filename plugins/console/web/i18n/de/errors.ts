import type { Messages } from '../en.ts'

export const errors: Messages['errors'] = {
  notFound: { title: 'Hier ist nichts', text: 'Die Adresse stimmt nicht, oder ihr Inhalt wurde entfernt.', action: 'Zur Startseite' },
  forbidden: { title: 'Diese Seite ist nicht für dich', text: 'Dein Konto darf sie nicht sehen. Ein Administrator kann das ändern.', guest: 'Gäste dürfen sie nicht sehen. Melde dich mit deinem Konto an.', action: 'Zur Startseite' },
  failed: { title: 'Das hat nicht geklappt', text: 'Die Seite konnte nicht geladen werden.' },
  unreachable: { title: 'Der Server antwortet nicht', text: 'Prüfe, ob er läuft und ob du in seinem Netz bist. Diese Seite macht von selbst weiter, sobald er antwortet.' },
  tooLarge: 'Ein Proxy vor dem Server nimmt nichts in dieser Größe an. Erhöhe seine Grenze, etwa client_max_body_size von nginx.',
  status: (status) => `Der Server oder ein Proxy davor hat mit dem Status ${status} und ohne Grund geantwortet.`,
  crashed: { title: 'Diese Seite hat einen Fehler', text: 'Lade sie neu. Hilft das nicht, melde die Zeilen unten.', action: 'Neu laden', details: 'Einzelheiten' },
  outdated: { title: 'Der Server wurde aktualisiert', text: 'Dieser Teil der alten Version fehlt jetzt. Lade die Seite neu, dann nutzt du die neue.', action: 'Neu laden' }
}
