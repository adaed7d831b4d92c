import { holds } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import { useTitle } from '../../navigate.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Forbidden } from '../errors/errors.tsx'
import { DropGames } from './drop-games.tsx'

/** Adds games to the library from this browser. */
export default function UploadPage () {
  const { upload, setup } = texts()
  useTitle(upload.title)
  if (!holds('roms.write')) return <Forbidden />
  return (
    <div class='narrow stack'>
      <div class='page-head'>
        <h1>{upload.title}</h1>
        <LinkButton href='roms?order=created_at'>{setup.toLibrary}</LinkButton>
      </div>
      <DropGames />
      <section class='stack'>
        <h2>{upload.otherTitle}</h2>
        <p class='soft'>{upload.otherText}</p>
        <pre class='snippet'>{upload.example}</pre>
      </section>
    </div>
  )
}
