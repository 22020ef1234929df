//! Which tables are published, and how.

/// A table of the data folder.
pub(super) struct TableSpec {
    pub(super) name: &'static str,
    pub(super) file: &'static str,
    pub(super) quasi: &'static str,
    pub(super) sensitive: &'static str,
    /// Columns with a file in `hierarchies/NAME`.
    pub(super) taxonomies: &'static [&'static str],
    /// Whether no constant was chosen on it. The formula was changed once after a first look at these tables (decision 11),
    /// so they are not held out in the strict sense.
    pub(super) is_second: bool,
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

/// A table without taxonomies.
const fn table(
    name: &'static str,
    file: &'static str,
    quasi: &'static str,
    sensitive: &'static str,
    is_second: bool,
) -> TableSpec {
    TableSpec { name, file, quasi, sensitive, taxonomies: &[], is_second }
}

const ADULT: &str = "age,workclass,education,marital_status,race,sex,native_country";
const BRFSS: &str = "sex,age_category,race,gen_health,smoking,diabetic,physical_activity";
const DIABETES: &str = "race,gender,age,admission_type_id,discharge_disposition_id,time_in_hospital,number_diagnoses";
const ACS: &str = "sex,age,race,marital,education_level,hours_worked,economic_region";
const NIST: &str = "puma,agep,sex,msp,rac1p,edu,own_rent";
const INFORMS: &str = "birth_year,sex,race,hispanic_category,education_years,marital_status";
const KDD: &str = "age,class_of_worker,education,marital_status,race,sex,major_industry";

pub(super) const TABLES: [TableSpec; 14] = [
    TableSpec {
        name: "adult",
        file: "adult_complete.csv.gz",
        quasi: ADULT,
        sensitive: "occupation",
        taxonomies: &["workclass", "education", "marital_status", "race", "native_country"],
        is_second: false,
    },
    table("brfss", "brfss2020_heart.csv.gz", BRFSS, "heart_disease", false),
    table("diabetes", "diabetes_hospitals.csv.gz", DIABETES, "diag_1", false),
    table("acs", "acs_gov_employees.csv.gz", ACS, "salary", false),
    table("occ", "census_occ_100k.csv.gz", CENSUS, "occupation", false),
    table("sal", "census_sal_500k.csv.gz", CENSUS, "salary_class", false),
    table("nist", "acs2019_nist_national.csv.gz", NIST, "pincp_decile", true),
    table("informs", "informs_persons.csv.gz", INFORMS, "poverty_category", true),
    table("kdd", "census_income_kdd.csv.gz", KDD, "major_occupation", true),
    // With numbers for shuffle.
    table("adult-hours", "adult_complete.csv.gz", ADULT, "hours_per_week", false),
    table("brfss-sleep", "brfss2020_heart.csv.gz", BRFSS, "sleep_time", false),
    table("diabetes-lab", "diabetes_hospitals.csv.gz", DIABETES, "num_lab_procedures", false),
    table("informs-income", "informs_persons.csv.gz", INFORMS, "income", true),
    table("kdd-wage", "census_income_kdd.csv.gz", KDD, "wage_per_hour", true),
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

pub(super) const PUBLICATIONS: [Publication; 45] = [
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
    publication("adult-hours", "ke", "shuffle", &["ke=4,10"]),
    publication("brfss-sleep", "ke", "shuffle", &["ke=4,3"]),
    publication("diabetes-lab", "ke", "shuffle", &["ke=4,20"]),
    publication("acs", "ke", "shuffle", &["ke=4,5000"]),
    publication("sal", "ke", "shuffle", &["ke=10,9"]),
    publication("nist", "l4", "generalize", &["l=4"]),
    publication("informs", "beta1", "generalize", &["beta=1"]),
    publication("kdd", "t03", "generalize", &["t=0.3"]),
    publication("nist", "l4", "anatomy", &["l=4"]),
    publication("informs", "beta1", "anatomy", &["beta=1"]),
    publication("kdd", "t03", "anatomy", &["t=0.3"]),
    publication("nist", "l4", "permute", &["l=4"]),
    publication("informs", "beta1", "permute", &["beta=1"]),
    publication("kdd", "t03", "permute", &["t=0.3"]),
    publication("nist", "l4", "angel", &["k=5", "l=4"]),
    publication("informs", "beta1", "angel", &["k=5", "beta=1"]),
    publication("kdd", "t03", "angel", &["k=5", "t=0.3"]),
    publication("informs-income", "ke", "shuffle", &["ke=4,5000"]),
    publication("kdd-wage", "ke", "shuffle", &["ke=2,100"]),
];
