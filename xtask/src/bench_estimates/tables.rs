//! Which tables are published, and how.

/// A table of the data folder.
pub(super) struct TableSpec {
    pub(super) name: &'static str,
    pub(super) file: &'static str,
    pub(super) quasi: &'static str,
    pub(super) sensitive: &'static str,
    /// Columns with a file in `hierarchies/NAME`.
    pub(super) taxonomies: &'static [&'static str],
}

/// One way of publishing a table.
pub(super) struct Publication {
    pub(super) table: &'static str,
    /// A short name of what is required.
    pub(super) promise: &'static str,
    pub(super) method: &'static str,
    pub(super) require: &'static [&'static str],
    pub(super) has_taxonomies: bool,
}

const CENSUS: &str = "age,gender,education,marital_status,race,work_class,country";

pub(super) const TABLES: [TableSpec; 6] = [
    TableSpec {
        name: "adult",
        file: "adult_complete.csv.gz",
        quasi: "age,workclass,education,marital_status,race,sex,native_country",
        sensitive: "occupation",
        taxonomies: &["workclass", "education", "marital_status", "race", "native_country"],
    },
    TableSpec {
        name: "brfss",
        file: "brfss2020_heart.csv.gz",
        quasi: "sex,age_category,race,gen_health,smoking,diabetic,physical_activity",
        sensitive: "heart_disease",
        taxonomies: &[],
    },
    TableSpec {
        name: "diabetes",
        file: "diabetes_hospitals.csv.gz",
        quasi: "race,gender,age,admission_type_id,discharge_disposition_id,time_in_hospital,number_diagnoses",
        sensitive: "diag_1",
        taxonomies: &[],
    },
    TableSpec {
        name: "acs",
        file: "acs_gov_employees.csv.gz",
        quasi: "sex,age,race,marital,education_level,hours_worked,economic_region",
        sensitive: "salary",
        taxonomies: &[],
    },
    TableSpec { name: "occ", file: "census_occ_100k.csv.gz", quasi: CENSUS, sensitive: "occupation", taxonomies: &[] },
    TableSpec {
        name: "sal",
        file: "census_sal_500k.csv.gz",
        quasi: CENSUS,
        sensitive: "salary_class",
        taxonomies: &[],
    },
];

const fn publication(
    table: &'static str,
    promise: &'static str,
    method: &'static str,
    require: &'static [&'static str],
) -> Publication {
    Publication { table, promise, method, require, has_taxonomies: false }
}

const fn with_taxonomies(publication: Publication) -> Publication {
    Publication { has_taxonomies: true, ..publication }
}

pub(super) const PUBLICATIONS: [Publication; 28] = [
    with_taxonomies(publication("adult", "l4", "generalize", &["k=5", "l=4"])),
    with_taxonomies(publication("adult", "t02", "generalize", &["t=0.2"])),
    with_taxonomies(publication("adult", "k10", "generalize", &["k=10"])),
    publication("brfss", "beta1", "generalize", &["beta=1"]),
    publication("diabetes", "l4", "generalize", &["l=4"]),
    publication("acs", "t03", "generalize", &["t=0.3"]),
    publication("occ", "l6", "generalize", &["l=6"]),
    publication("sal", "l10", "generalize", &["l=10"]),
    publication("adult", "l4", "anatomy", &["l=4"]),
    publication("brfss", "beta1", "anatomy", &["beta=1"]),
    publication("diabetes", "l4", "anatomy", &["l=4"]),
    publication("acs", "t03", "anatomy", &["t=0.3"]),
    publication("occ", "l6", "anatomy", &["l=6"]),
    publication("sal", "l10", "anatomy", &["l=10"]),
    publication("adult", "l4", "permute", &["k=5", "l=4"]),
    publication("brfss", "beta1", "permute", &["beta=1"]),
    publication("diabetes", "l4", "permute", &["l=4"]),
    publication("acs", "t03", "permute", &["t=0.3"]),
    publication("occ", "l6", "permute", &["l=6"]),
    publication("sal", "l10", "permute", &["l=10"]),
    with_taxonomies(publication("adult", "l4", "angel", &["k=5", "l=4"])),
    publication("brfss", "beta1", "angel", &["k=10", "beta=1"]),
    publication("diabetes", "l4", "angel", &["k=5", "l=4"]),
    publication("acs", "t03", "angel", &["k=10", "t=0.3"]),
    publication("occ", "l6", "angel", &["k=5", "l=6"]),
    publication("sal", "l10", "angel", &["k=10", "l=10"]),
    publication("acs", "ke", "shuffle", &["ke=4,5000"]),
    publication("sal", "ke", "shuffle", &["ke=10,9"]),
];
