import { createFormat } from '../format.ts'

const { plural } = createFormat('en')

/** Adding games from the browser. */
export const upload = {
  title: 'Add games',
  drop: 'Drop games here',
  dropHint: 'Each game is one file, such as Game.sfc or Game.zip.',
  platformOf: (count: number) => plural(count, { one: 'Which platform is this game for?', other: 'Which platform are these # games for?' }),
  states: {
    choose: 'choose a platform',
    queued: 'waits',
    sending: 'is sent',
    waiting: 'the connection is lost; it goes on by itself',
    finishing: 'is added to the library',
    done: 'is in the library',
    failed: 'failed'
  },
  empty: 'This file is empty. Look at where it came from.',
  unreadable: 'The browser cannot read this file any more. Choose it again.',
  folders: (names: string) => `Folders are not added: ${names}. Drop the files in them, each game as one file.`,
  failed: 'The upload failed. Try again.',
  done: (count: number) => plural(count, { one: '# game is in your library.', other: '# games are in your library.' }),
  interrupted: 'Unfinished uploads',
  chooseAgain: 'interrupted; choose the file again, and it goes on where it stopped',
  retryNamed: (name: string) => `Try again: ${name}`,
  cancelNamed: (name: string) => `Cancel ${name}`,
  forgetNamed: (name: string) => `Hide ${name}`,
  otherTitle: 'Many games at once?',
  otherText: 'Copy them into the library folder of the server instead: one folder for each platform. The next scan finds them.',
  example: 'roms/\n  snes/\n    First Game.sfc\n  gba/\n    Second Game.gba'
}
