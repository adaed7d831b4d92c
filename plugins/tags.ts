import type { Tag } from '../core/web/openapi.ts'

const TAGS = {
  heartbeat: 'Whether the server is there, and what it can do',
  auth: 'Signing in by password or at another identity provider, and new passwords',
  sessions: 'Browsers that are signed in',
  'client-tokens': 'Credentials of apps and scripts, with scopes, and pairing by a code',
  'device-authorization': 'Pairing of devices that can only show a code',
  users: 'Accounts, invites, profiles and avatars',
  permissions: 'Groups, grants, what is hidden from whom, and age limits',
  libraries: 'Root folders under which platforms lie',
  platforms: 'Systems, each with a folder of ROMs',
  roms: 'Games: lists, details, editing, files, downloads, notes and patches',
  search: 'Games and covers at the metadata sources, for a person to choose from',
  music: 'The soundtracks of all games, with favourites and playlists',
  collections: 'ROMs across platforms: by hand, by stored filters, and by what they have in common',
  firmware: 'BIOS files',
  saves: 'Saves with their versions, by game, slot and device',
  states: 'Save states with their versions',
  screenshots: 'Screenshots that belong to saves, states and players',
  devices: 'Handhelds and desktops of a user',
  sync: 'What a device and the server have to exchange',
  installs: 'Requests to a device to install a ROM',
  activity: 'Who plays what right now',
  netplay: 'Rooms in which people play one game together, by the socket endpoint `/netplay/socket.io`',
  streaming: 'Games that run on other machines and are watched in the browser',
  'play-sessions': 'What was played, and for how long',
  notifications: 'The inbox of a user',
  'notification-channels': 'Where notifications are forwarded to',
  exports: 'Lists of games for frontends',
  feeds: 'Lists of games for consoles and launchers',
  tasks: 'Scans and all other work in the background',
  plugins: 'Metadata providers, channel types and exporters',
  config: 'Settings of the server',
  stats: 'How much there is',
  audit: 'Who changed what',
  logs: 'What the processes of the server log',
  metrics: 'What the processes of the server measure'
}

/** The groups of operations, in the order in which a new reader needs them. */
export const tags: readonly Tag[] = Object.entries(TAGS).map(([name, description]) => ({ name, description }))
