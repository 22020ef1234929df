//! Files in and out, and nothing else: tables from CSV and Parquet, releases to and from a folder.
//!
//! Everything heavy that deals with file formats lives here, so that an edit of an algorithm recompiles none of it. A
//! release is written beside its place, synced, and then renamed: it appears whole or not at all. Work that is stopped
//! leaves nothing behind, and the next run removes what a killed one could not. A reader verifies every hash before
//! anyone sees a table.

mod batches_in;
mod canonical;
mod csv_out;
mod error;
mod folder;
mod foreign;
mod input;
mod limits;
mod parquet_in;
mod parquet_out;
mod parquet_pages;
mod part_by_part;
mod parts;
mod private;
mod release_in;
mod secret;
mod shared;
mod spill;
mod temporary;
mod unfinished;
mod whole;

pub use canonical::{FilesReport, look_at_files, look_at_part};
pub use chrysalis_release::PartEntry;
pub use error::StoreError;
pub use folder::{
    Format, MANIFEST, ReleaseFolder, check_place, stray_files, write_part, write_release, write_release_once,
};
pub use foreign::ForeignFormat;
pub use input::{Input, Source};
pub use limits::bytes_per_row;
pub use part_by_part::PartByPart;
pub use private::{PrivateFolder, manifest_sha256, next_of, place_of_private, read_private};
pub use release_in::{
    manifests_beside, manifests_in, read_columns, read_columns_within, read_manifest, read_manifest_within,
    read_release, read_release_watched, read_release_within,
};
pub use secret::{make_secret, read_secret};
pub use shared::SharedFolder;
pub use spill::{Spill, SpillFile};
pub use unfinished::give_up;
pub use whole::{write_file, write_files, write_folder, write_tables};
