import { createFormat } from '../format.ts'

const { number, plural } = createFormat('en')

const DOES: Readonly<Record<string, string>> = {
  igdb: 'Texts, ratings, covers and screenshots for nearly every game.',
  ss: 'Texts, covers, videos and manuals, also for old and rare games.',
  moby: 'Texts, covers and screenshots, strong on computers.',
  ra: 'Achievements, found by the content of the file.',
  sgdb: 'Covers drawn by fans.',
  tgdb: 'Texts and covers.',
  hasheous: 'Recognises games by the content of the file.',
  playmatch: 'Recognises games by the content of the file.',
  launchbox: 'Texts and covers from a database on this server.',
  hltb: 'How long games take to finish.',
  libretro: 'Covers and screenshots by the name of the file. Needs no account.',
  gamelist: 'Reads gamelist.xml beside your games. Needs no network.',
  flashpoint: 'Games that once ran in web browsers.',
  steam: 'Texts and pictures of games for PCs.',
  demozoo: 'Demos and their makers.',
  pouet: 'Demos and their makers.',
  csdb: 'Demos and games for the C64.'
}

/** Channels and exporters by kind and key. */
const OTHERS_DO: Readonly<Record<string, string>> = {
  'channel apprise': 'Sends notifications to Telegram, Matrix and many more, by an Apprise server.',
  'channel email': 'Sends notifications and links for new passwords by mail.',
  'channel webhook': 'Sends notifications to an address of your own.',
  'exporter gamelist': 'Writes gamelist.xml for ES-DE, Batocera and RetroBat.',
  'exporter pegasus': 'Writes metadata.pegasus.txt for Pegasus.'
}

/** The steps after the first start. */
export const setup = {
  title: 'Set up',
  steps: { library: 'Your games', providers: 'Covers and texts', scan: 'First scan' },
  skip: 'Skip for now',
  next: (step: string) => `Next: ${step}`,
  toHome: 'To the start page',
  toLibrary: 'To the library',
  library: {
    title: 'Where are your games?',
    text: 'The server reads games from folders on its disk, one for each platform. It never changes them unless you ask it to.',
    folders: 'Library folders',
    content: 'What is in them'
  },
  empty: 'There are no platform folders yet. If your games are in another folder, choose “Change” above. Otherwise make a folder for each platform, ' +
    'as below, or drop games here.',
  misplaced: (library: string, folders: string, place: string) =>
    `The library “${library}” holds ${folders} directly, but the server looks for platforms in its folder “${place}”.`,
  misplacedParent: (path: string) => `If these are your platforms, change the folder of the library to ${path}.`,
  misplacedLink: 'If these are your platforms, make a folder with a link to them on the server, and change the library to that folder:',
  emptyForOthers: 'The person who runs this server has not added any games yet, or none that you may see.',
  files: (count: number) => plural(count, { one: '# file', other: '# files' }),
  folders: (count: number) => plural(count, { one: '# folder', other: '# folders' }),
  free: (size: string) => `${size} free`,
  readOnly: 'Read only',
  unavailable: 'The folder cannot be read.',
  change: 'Change',
  changeNamed: (name: string) => `Change ${name}`,
  addFolder: 'Add a folder',
  dialog: {
    path: 'Folder on the server',
    pathHint: 'The whole path. In a container, the path inside it.',
    name: 'Name',
    writable: 'The server may change files',
    writableHint: 'Needed to upload, rename and delete games.'
  },
  unknown: {
    title: 'Folders that were not understood',
    text: 'Their names belong to no platform. Choose the platform of each, or leave it: its games then appear without covers.',
    choose: (folder: string) => `Platform of ${folder}`
  },
  bound: (folder: string, platform: string) => `${folder} is ${platform} from the next scan on.`,
  providers: {
    title: 'Covers and texts',
    text: 'Providers recognise your games. Some work at once; others need a free account. You can add them later and scan again.',
    others: 'Mails, messages and exports',
    stored: (name: string) => `The settings of ${name} are stored.`,
    groups: { ready: 'Working', account: 'Need an account', off: 'Free, but switched off', failed: 'Not working' },
    states: { ready: 'On', account: 'Needs a key', off: 'Off', failed: 'Failed' },
    does: DOES,
    othersDo: OTHERS_DO,
    test: 'Test',
    testNamed: (name: string) => `Test ${name}`,
    answers: 'It answers.',
    silent: 'It does not answer. Check the network of the server, then try again.',
    silentBecause: (problem: string) => `The settings are stored, but the provider does not answer. ${problem}`,
    works: (name: string) => `${name} works. The next scan uses it.`,
    switchOn: 'Switch on',
    switchOnNamed: (name: string) => `Switch on ${name}`,
    enterKey: 'Enter the key',
    settings: 'Settings',
    settingsOf: (name: string) => `Settings of ${name}`,
    saveAndTest: 'Save and test',
    fixed: 'The person who runs the server has set these. They can be changed only there:',
    getAccount: (name: string) => `Get a key from ${name}`
  },
  scan: {
    title: 'First scan',
    text: 'The server looks at every file and finds out which game it is. Your files stay as they are.',
    start: 'Start the scan',
    again: 'Scan again',
    busy: 'Scanning',
    ready: 'Ready when you are.',
    nothing: 'Done. The library folders contain no games yet.',
    nothingNew: (scanned: number) => `Done: ${plural(scanned, { one: '# game', other: '# games' })}, nothing new.`,
    problems: (count: number) => plural(count, { one: 'One thing did not work:', other: '# things did not work:' }),
    moreProblems: (count: number) => `${number(count)} more are in the log of the server.`,
    unrecognised: 'No game was recognised. With more providers the next scan recognises more:',
    starting: 'The scan starts.',
    running: (platform: string, scanned: number, total: number) =>
      `${platform}: ${number(scanned)} of ${plural(total, { one: '# game', other: '# games' })}.`,
    done: (scanned: number, identified: number) =>
      `Done: ${plural(scanned, { one: '# game', other: '# games' })}, ${number(identified)} recognised.`
  }
}
