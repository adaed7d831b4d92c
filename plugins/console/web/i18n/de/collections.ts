import { createFormat } from '../format.ts'
import type { Messages } from '../en.ts'

const { plural } = createFormat('de')

export const collections: Messages['collections'] = {
  title: 'Sammlungen',
  mine: 'Deine Sammlungen',
  smart: 'Smarte Sammlungen',
  shared: 'Von anderen geteilt',
  virtual: 'In deiner Bibliothek gefunden',
  order: 'Sortieren nach',
  orders: { name: 'Name', updated: 'Zuletzt geändert', count: 'Zahl der Spiele' },
  types: { genre: 'Genres', franchise: 'Franchises', collection: 'Reihen', mode: 'Spielmodi', company: 'Firmen' },
  type: 'Gemeinsam haben sie',
  find: 'Sammlung suchen',
  by: (name) => `von ${name}`,
  isPublic: 'Öffentlich',
  isPrivate: 'Privat',
  isSmart: 'Smart',
  isFavorite: 'Favoriten',
  new: 'Neue Sammlung',
  newSmart: 'Neue smarte Sammlung',
  edit: 'Bearbeiten',
  editFilter: 'Filter bearbeiten',
  delete: 'Löschen',
  download: 'Als Zip herunterladen',
  addGames: 'Spiele hinzufügen',
  more: 'Mehr',
  none: {
    title: 'Noch keine Sammlung',
    text: 'Eine Sammlung enthält Spiele beliebiger Plattformen. Lege hier eine an, oder wähle in der Bibliothek Spiele aus und füge sie hinzu.'
  },
  noMatch: 'Keine Sammlung von dir oder anderen heißt so. Ändere die Suche.',
  noVirtual: 'Sobald drei Spiele etwas gemeinsam haben, erscheint es hier.',
  empty: {
    title: 'Diese Sammlung ist leer',
    text: 'Öffne die Bibliothek, wähle Spiele mit der Leertaste oder langem Drücken aus und füge sie hinzu.',
    action: 'Bibliothek öffnen'
  },
  emptySmart: { title: 'Kein Spiel passt', text: 'Zu den Filtern dieser Sammlung passt im Moment nichts.' },
  notFound: { title: 'Diese Sammlung ist nicht hier', text: 'Sie wurde gelöscht, oder sie wird nicht geteilt.', action: 'Alle Sammlungen' },
  form: {
    name: 'Name',
    description: 'Beschreibung',
    public: 'Alle auf diesem Server dürfen sie sehen',
    cover: 'Cover',
    coverHint: 'Ein Bild als PNG, JPEG, WebP oder GIF. Ohne Bild erscheinen die Cover der Spiele.',
    removeCover: 'Stattdessen die Cover der Spiele zeigen',
    create: 'Anlegen',
    save: 'Speichern',
    saved: (name) => `${name} gespeichert.`,
    created: (name) => `${name} angelegt.`,
    nameMissing: 'Gib einen Namen ein.'
  },
  builder: {
    title: 'Neue smarte Sammlung',
    edit: 'Smarte Sammlung bearbeiten',
    text: 'Spiele, die passen, gehören dazu, auch solche, die später dazukommen.',
    count: (count) => plural(count, { one: '# Spiel passt', other: '# Spiele passen' }),
    counting: 'Wird gezählt'
  },
  deletion: {
    title: (name) => `${name} löschen?`,
    text: 'Ihre Spiele bleiben in der Bibliothek. Das lässt sich nicht rückgängig machen.',
    submit: 'Sammlung löschen',
    done: (name) => `${name} gelöscht.`
  }
}
