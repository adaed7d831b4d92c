import ghost from 'lucide/dist/esm/icons/ghost.mjs'
import type { Failure } from '../../api/failure.ts'
import { holds, isGuest, accountOf } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import { useTitle, useView } from '../../navigate.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Cover, nameOf } from '../../ui/cover.tsx'
import { Empty, Failed, Skeleton } from '../../ui/state.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Facts } from './facts.tsx'
import { Files } from './files.tsx'
import { Marks } from './marks.tsx'
import { Metadata } from './metadata.tsx'
import { Overview } from './overview.tsx'
import { type DetailedRom, useRom } from './rom-data.ts'
import { RomHead } from './rom-head.tsx'
import { Saves } from './saves/saves.tsx'

const TABS = ['overview', 'saves', 'files', 'metadata'] as const
type Tab = typeof TABS[number]

/** True if the account may have saves. Guests have none. */
function maySave (): boolean {
  const account = accountOf()
  return account !== null && !isGuest(account) && holds('assets.read')
}

/** Returns the part of the page that the address names. */
const readTab = ({ tab }: Readonly<Record<string, string>>): Tab =>
  TABS.find((one) => one === tab && (one !== 'saves' || maySave())) ?? 'overview'

/** The shape of the page while it loads. */
const Waiting = () => (
  <div class='rom'>
    <div class='rom-cover cover skeleton' />
    <div class='rom-body'>
      <div class='rom-head'>
        <div class='rom-title'><Skeleton width='min(20rem, 80%)' height='2.25rem' /><Skeleton width='min(12rem, 60%)' /></div>
        <div class='rom-actions'><Skeleton width='16rem' height='2.5rem' /></div>
      </div>
      <div class='rom-main'><Skeleton height='18rem' /></div>
    </div>
  </div>
)

/** The parts of the page, one at a time. The address names the part. */
function RomTabs ({ rom, tab }: { rom: DetailedRom, tab: Tab }) {
  const { rom: words } = texts()
  const { path, go } = useView()
  const saves = rom.user_saves.length + rom.user_states.length
  const tabs = [
    { id: 'overview', label: words.tabs.overview, content: () => <Overview rom={rom} /> },
    ...(maySave() ? [{ id: 'saves', label: saves === 0 ? words.tabs.saves : `${words.tabs.saves} ${saves}`, content: () => <Saves rom={rom} /> }] : []),
    { id: 'files', label: rom.files.length > 1 ? `${words.tabs.files} ${rom.files.length}` : words.tabs.files, content: () => <Files rom={rom} /> },
    { id: 'metadata', label: words.tabs.metadata, content: () => <Metadata rom={rom} /> }
  ]
  return (
    <Tabs
      label={words.tabs.label} tabs={tabs} value={tab}
      onChange={(id) => { go(id === 'overview' ? path : `${path}?tab=${id}`, true) }}
    />
  )
}

/** True if the id in the address belongs to no game, or is none. */
export const isNoSuchRom = (failure: Failure | null): boolean => failure !== null && [404, 422].includes(failure.status)

/** Shown for a game that does not exist, or that the account may not see. */
export function NoSuchRom () {
  const { title, text, action } = texts().rom.notFound
  useTitle(title)
  return <Empty isPage icon={ghost} title={title} text={text}><LinkButton href='roms'>{action}</LinkButton></Empty>
}

/** One game: its cover and facts, saves, files and metadata. */
export default function RomPage ({ id }: { id: string }) {
  const { query } = useView()
  const { data: { value: rom }, failure: { value: failure } } = useRom(id)
  useTitle(rom === undefined ? undefined : nameOf(rom))
  if (isNoSuchRom(failure)) return <NoSuchRom />
  if (rom === undefined) return failure === null ? <Waiting /> : <Failed failure={failure} />
  const account = accountOf()
  const tab = readTab(query)
  return (
    // The way back may lead to another game: its page has no dialog of this one.
    <article key={rom.id} class='rom' data-tab={tab}>
      <div class='rom-cover'><Cover rom={{ ...rom, sibling_roms: [], missing_from_fs: false }} isLarge /></div>
      <div class='rom-body'>
        <RomHead rom={rom} />
        <div class='rom-main'><RomTabs rom={rom} tab={tab} /></div>
      </div>
      <aside class='rom-aside' aria-label={texts().rom.facts.title}>
        {account !== null && !isGuest(account) && holds('roms.user.write') && <Marks rom={rom} />}
        <Facts rom={rom} />
      </aside>
    </article>
  )
}
