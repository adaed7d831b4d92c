import { remotePicture } from './remote-picture.ts'

/** A provider's picture in the place of a cover. The name shows until the picture is there, and if there is none. */
export const RemoteCover = ({ name, url }: { name: string, url: string }) => (
  <span class='cover' aria-hidden>
    <span class='cover-title'>{name}</span>
    {url !== '' && (
      <img
        src={remotePicture(url)} alt='' loading='lazy'
        onError={({ currentTarget }) => { currentTarget.hidden = true }}
      />
    )}
  </span>
)
