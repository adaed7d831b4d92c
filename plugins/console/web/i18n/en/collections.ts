import { createFormat } from '../format.ts'

const { plural } = createFormat('en')

/** Collections: by hand, by filters, and by what games have in common. */
export const collections = {
  title: 'Collections',
  mine: 'Your collections',
  smart: 'Smart collections',
  shared: 'Shared by others',
  virtual: 'Found in your library',
  order: 'Sort by',
  orders: { name: 'Name', updated: 'Last changed', count: 'Number of games' },
  types: { genre: 'Genres', franchise: 'Franchises', collection: 'Series', mode: 'Modes', company: 'Companies' },
  type: 'In common',
  find: 'Find a collection',
  by: (name: string) => `by ${name}`,
  isPublic: 'Public',
  isPrivate: 'Private',
  isSmart: 'Smart',
  isFavorite: 'Favourites',
  new: 'New collection',
  newSmart: 'New smart collection',
  edit: 'Edit',
  editFilter: 'Edit filters',
  delete: 'Delete',
  download: 'Download as zip',
  addGames: 'Add games',
  more: 'More',
  none: {
    title: 'No collection yet',
    text: 'A collection holds games of any platform. Create one here, or select games in the library and add them.'
  },
  noMatch: 'No collection of you or others has this name. Change the search.',
  noVirtual: 'As soon as three games have something in common, it appears here.',
  empty: { title: 'This collection is empty', text: 'Open the library, select games with Space or a long press, and add them.', action: 'Open the library' },
  emptySmart: { title: 'No game fits', text: 'The filters of this collection match nothing at present.' },
  notFound: { title: 'This collection is not here', text: 'It was deleted, or its owner does not share it.', action: 'All collections' },
  form: {
    name: 'Name',
    description: 'Description',
    public: 'Everybody on this server may see it',
    cover: 'Cover',
    coverHint: 'A PNG, JPEG, WebP or GIF picture. Without one, the covers of its games are shown.',
    removeCover: 'Show the covers of its games instead',
    create: 'Create',
    save: 'Save',
    saved: (name: string) => `${name} saved.`,
    created: (name: string) => `${name} created.`,
    nameMissing: 'Enter a name.'
  },
  builder: {
    title: 'New smart collection',
    edit: 'Edit smart collection',
    text: 'Games that fit belong to it, also those that are added later.',
    count: (count: number) => plural(count, { one: '# game fits', other: '# games fit' }),
    counting: 'Counting'
  },
  deletion: {
    title: (name: string) => `Delete ${name}?`,
    text: 'Its games stay in the library. This cannot be undone.',
    submit: 'Delete collection',
    done: (name: string) => `${name} deleted.`
  }
}
